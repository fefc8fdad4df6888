#pragma once

#include <algorithm>
#include <cstdint>

namespace headway::collectives {

/// How many bytes of its memory for streams a rank uses in turns, from the beginning on.
///
/// A page that a rank reads for the first time costs it a page fault, which takes longer than to
/// read what is in it. So the first streams use few pages, and more are used as more follow: up to
/// what the caches hold that the ranks share. If each rank has a core, that is the third cache.
/// Among more ranks than processors, ranks on one processor share its second cache (docs/decisions,
/// 21).
/// Shape:    four numbers.
/// Threads:  one at a time.
/// Progress: never waits.
/// Errors:   none.
class used_extent {
 public:
  /// `whole_bytes`: of the memory. `ranks` have as much each.
  used_extent(std::int64_t whole_bytes, int ranks, bool oversubscribed) noexcept
      : whole_(whole_bytes),
        most_(std::min(whole_bytes,
                       (oversubscribed ? second_caches_bytes : third_cache_bytes) / ranks)) {}

  /// Of it, for a stream of so many bytes: at least two places.
  [[nodiscard]] std::int64_t bytes_for(std::int64_t stream_bytes) const noexcept {
    return std::min(std::max(used_, 2 * stream_bytes), whole_);
  }
  /// A stream was placed at the beginning again.
  void gone_round() noexcept {
    if (++rounds_ % rounds_each == 0) used_ = std::max(used_, std::min(2 * used_, most_));
  }

 private:
  static constexpr std::int64_t third_cache_bytes = 4 * 1024 * 1024,
                                second_caches_bytes = 1024 * 1024;
  static constexpr int rounds_each = 8;

  const std::int64_t whole_;
  const std::int64_t most_;
  std::int64_t used_ = 64 * 1024;
  int rounds_ = 0;
};

}  // namespace headway::collectives
