#pragma once

#include <atomic>
#include <cstdint>

namespace headway::windows {

/// How often a process has told others of an epoch of a window, in memory that they see.
/// Shape:    one word; zero at first.
/// Threads:  `tell` one process, a thread at a time; `told` any thread of any process.
template <class Atomic>
class basic_epoch_counter {
  // Hazard: a process that reads the new number could read memory as it was before `tell`, or could
  //         write over memory that the other process still reads. Edge: (N) release -> (M) acquire.
  // Checked by tests/model/epoch_counter_model.cpp (mutations there).
 public:
  /// Returns the new number.
  std::uint64_t tell() noexcept {
    const auto next = number_.load(std::memory_order_relaxed) + 1;  // this process's own
    number_.store(next, std::memory_order_release);                 // (N)
    return next;
  }
  /// Whether it has been told so often.
  [[nodiscard]] bool told(std::uint64_t times) const noexcept {
    return number_.load(std::memory_order_acquire) >= times;  // (M)
  }

 private:
  Atomic number_{0};
};

using epoch_counter = basic_epoch_counter<std::atomic<std::uint64_t>>;

/// What one process tells another: that it has let it in, and that it has ended its accesses.
struct epoch_pair {
  epoch_counter posts;      ///< MPI_Win_post
  epoch_counter completes;  ///< MPI_Win_complete
};

}  // namespace headway::windows
