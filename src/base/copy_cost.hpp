#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/clock.hpp"

namespace headway::base {

/// The recent average time of copies of one kind, of those that were timed.
///
/// Shape:    ns for 64 KiB; 0: none was timed.
/// Threads:  any. The figure is relaxed: it carries no data, and if two threads note at the same
///           time one of the two values is lost.
class copy_cost {
 public:
  [[nodiscard]] std::uint64_t ns() const noexcept { return ns_.load(std::memory_order_relaxed); }

  /// A copy of so many bytes, at least 1. A time of more than twice the average counts as twice: it
  /// means that the thread lost its processor.
  void note(std::size_t bytes, std::uint64_t took_ns) noexcept {
    const std::uint64_t seen = std::max<std::uint64_t>(took_ns * 65536 / bytes, 1);
    const std::uint64_t old = ns();
    ns_.store(old == 0 ? seen : (7 * old + std::min(seen, 2 * old) + 7) / 8,
              std::memory_order_relaxed);
  }

  /// Calls `copy()`, which copies so many bytes and says whether it could. Notes how long it took
  /// if `timed`, and if it could.
  template <class Copy>
  bool run(std::size_t bytes, bool timed, Copy copy) noexcept {
    if (!timed) return copy();
    const auto start_ns = machine_now_ns();
    const bool whole = copy();
    if (whole) note(bytes, machine_now_ns() - start_ns);
    return whole;
  }

 private:
  std::atomic<std::uint64_t> ns_{0};
};

}  // namespace headway::base
