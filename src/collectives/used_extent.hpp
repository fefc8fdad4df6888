#pragma once

#include <algorithm>
#include <cstdint>

namespace headway::collectives {

/// How much of its memory for streams a rank goes round in, from the beginning on.
///
/// A page that a rank reads for the first time costs it a page fault, which takes longer than to
/// read what is in it. So the first streams go round in few pages, and more are used as more
/// follow: up to what the caches hold that the ranks use together. With a core for each rank that
/// is the third one. Among more ranks than processors, the next rank on a processor finds in its
/// second cache what the one before has written or read there, and the streams of all ranks lie
/// in these (docs/decisions, 21).
/// Shape:    four numbers.
/// Threads:  one at a time.
/// Progress: never waits.
class used_extent {
 public:
  /// `whole_bytes`: of the memory. `ranks` have as much each.
  used_extent(std::int64_t whole_bytes, int ranks, bool oversubscribed) noexcept
      : whole_(whole_bytes),
        most_(std::min(whole_bytes, (oversubscribed ? of_second_caches : of_third) / ranks)) {}

  /// Of it, for a stream of so many bytes: at least two places.
  [[nodiscard]] std::int64_t bytes_for(std::int64_t stream_bytes) const noexcept {
    return std::min(std::max(used_, 2 * stream_bytes), whole_);
  }
  /// A stream was placed at the beginning again.
  void gone_round() noexcept {
    if (++rounds_ % rounds_each == 0) used_ = std::max(used_, std::min(2 * used_, most_));
  }

 private:
  static constexpr std::int64_t of_third = 4 * 1024 * 1024, of_second_caches = 1024 * 1024;
  static constexpr int rounds_each = 8;

  const std::int64_t whole_;
  const std::int64_t most_;
  std::int64_t used_ = 64 * 1024;
  int rounds_ = 0;
};

}  // namespace headway::collectives
