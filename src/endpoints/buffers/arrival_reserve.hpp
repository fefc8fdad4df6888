#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "endpoints/buffers/block.hpp"
#include "endpoints/buffers/region.hpp"

namespace headway::endpoints {

/// The second half of a process's region: blocks for messages that arrive when the first half is
/// used up. Without it, two processes whose memory is full of messages to each other would wait for
/// ever, because neither could receive, and so release memory of the other.
///
/// Shape:    each block is cut from the first free range that is large enough, and neighbouring
///           free ranges become one again: memory of one size serves for another.
/// Threads:  any; each function takes a lock.
/// Progress: waits for nothing but that lock. Slow; used only when memory is short.
/// Errors:   nullptr: no range is large enough. Writes to a released block are not detected.
class arrival_reserve {
 public:
  /// The places from `begin` to `end`.
  arrival_reserve(std::uint64_t begin, std::uint64_t end);

  /// The largest class of which there can be a block.
  [[nodiscard]] unsigned largest_class() const noexcept;
  /// A new block of the region `home`, in the pool's state.
  [[nodiscard]] block* take(const region& home, std::uint64_t job, unsigned size_class);
  /// `b` is free, and no other thread can access it.
  void put(const block& b) noexcept;
  /// Calls `use` with the place of each block that is taken.
  template <class Use>
  void each(Use use) const {
    const base::lock_guard held(lock_);
    for (const auto& [place, where] : used_) use(place);
  }
  /// How much of it was ever in use.
  [[nodiscard]] std::size_t bytes_touched() const noexcept;

 private:
  struct range {  // of places
    std::uint64_t begin, end;
  };

  const std::uint64_t begin_, end_;
  mutable base::mutex lock_;  // cold; `take` allocates under it
  std::map<std::uint64_t, range> free_ HEADWAY_GUARDED_BY(lock_);  // by begin
  std::map<std::uint64_t, range> used_ HEADWAY_GUARDED_BY(lock_);  // by the block's place
  std::uint64_t touched_ HEADWAY_GUARDED_BY(lock_);
};

}  // namespace headway::endpoints
