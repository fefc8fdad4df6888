#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::endpoints {

/// Hands blocks back to the process that owns them, from every process that maps its region.
/// Shape:    one word in shared memory: the place of the newest; places stay the same in every
///           process, addresses do not. `next_of(place)` is the link in the block there.
/// Threads:  `push` any thread of any process; `take_all` any thread of the owner.
/// Progress: lock-free. A process that dies between its store and (P) loses one block only.
/// Source:   R. K. Treiber's stack (IBM RJ 5118, 1986), taken whole, so that there is no ABA.
template <template <class> class Atomic = base::atomic>
class basic_return_list {
  // A block is its last holder's until (P), then the list's, after (T) the taker's.
  // Hazard: the taker does not see what the last holder wrote. Edge: (P) release -> (T) acquire; a
  // later (P) is a read-modify-write and continues the release sequence of the earlier ones.
  // Checked by: tests/model/return_list_model.cpp.
 public:
  template <class NextOf>
  void push(std::uint64_t place, NextOf next_of) noexcept {
    std::uint64_t newest = newest_.load(std::memory_order_relaxed);  // a guess; (P) checks it
    do {
      next_of(place) = newest;
    } while (!newest_.compare_exchange_weak(newest, place, std::memory_order_release,  // (P)
                                            std::memory_order_relaxed));
  }
  /// The newest, linked by `next_of` to the oldest; 0: none.
  [[nodiscard]] std::uint64_t take_all() noexcept {
    if (newest_.load(std::memory_order_relaxed) == 0) return 0;  // a hint
    return newest_.exchange(0, std::memory_order_acquire);       // (T)
  }

 private:
  Atomic<std::uint64_t> newest_{0};
};

}  // namespace headway::endpoints
