#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::endpoints {

/// Returns blocks to the process that owns them, from every process that maps its region.
/// Shape:    one word in shared memory: the place of the newest block; unlike addresses, places are
///           the same in every process. `link(next)` writes the link in the block that is pushed.
/// Threads:  `push` any thread of any process; `take_all` any thread of the owner.
/// Progress: lock-free. If a process dies between its store and (P), one block is lost.
/// Source:   R. K. Treiber's stack (IBM RJ 5118, 1986), taken whole, so that there is no ABA.
template <template <class> class Atomic = base::atomic>
class basic_return_list {
  // A block belongs to its last holder until (P), then to the list, after (T) to the taker.
  // Hazard: the taker does not see what the last holder wrote. Edge: (P) release -> (T) acquire; a
  // later (P) is a read-modify-write and continues the release sequence of the earlier ones.
  // Checked by: tests/model/return_list_model.cpp.
 public:
  template <class Link>
  void push(std::uint64_t place, Link link) noexcept {
    std::uint64_t newest = newest_.load(std::memory_order_relaxed);  // a guess; (P) checks it
    do {
      link(newest);
    } while (!newest_.compare_exchange_weak(newest, place, std::memory_order_release,  // (P)
                                            std::memory_order_relaxed));
  }
  /// The newest, linked to the oldest; 0: none.
  [[nodiscard]] std::uint64_t take_all() noexcept {
    if (newest_.load(std::memory_order_relaxed) == 0) return 0;  // a hint
    return newest_.exchange(0, std::memory_order_acquire);       // (T)
  }

 private:
  Atomic<std::uint64_t> newest_{0};
};

}  // namespace headway::endpoints
