#pragma once

#include <cstdint>
#include <ctime>

#include "base/atomic.hpp"

namespace headway::base {

/// In ns, as times are counted.
inline constexpr std::uint64_t us = 1'000, ms = 1'000'000;

/// A source of time: the machine's monotonic clock, or, under simulation, a number that the test
/// advances. The composition chooses it; every module has the one of its engine, so that two
/// runtimes with different clocks can live in one process.
/// Shape:    one pointer, copied freely; the number must outlive every copy. The default is the
///           machine's clock.
/// Threads:  `now_ns` any. The number is read relaxed: it carries nothing but the time.
/// Progress: never waits; the machine's clock takes about 19 ns. The kernel's time limits (futex,
///           epoll) follow the machine's clock: an object with a virtual clock must be polled, it
///           cannot sleep until a deadline.
class clock {
 public:
  constexpr clock() noexcept = default;
  explicit constexpr clock(const atomic<std::uint64_t>& virtual_now_ns) noexcept
      : virtual_now_ns_(&virtual_now_ns) {}

  [[nodiscard]] std::uint64_t now_ns() const noexcept {
    // Spelt so that Relacy, which makes macros of the other names, leaves it alone in model tests.
    if (virtual_now_ns_) [[unlikely]]
      return virtual_now_ns_->load(std::memory_order::relaxed);
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(now.tv_nsec);
  }
  [[nodiscard]] constexpr bool is_virtual() const noexcept { return virtual_now_ns_ != nullptr; }

 private:
  const atomic<std::uint64_t>* virtual_now_ns_ = nullptr;
};

/// The time of the machine's monotonic clock, whatever clock an engine was given.
///
/// What an engine and the modules above it do at some time, they do on the engine's `clock`. The
/// machine's is for what depends on the machine itself: waits in the kernel and times that are
/// compared with the kernel's, the measured speed of copies, meters and records for reports, and
/// short spins, which a number that only advances between two polls would never end. Launchers,
/// commands, reports and the bindings (`mpi`, `c_api`) have no other clock. The files that may call
/// this function are listed in tools/tidy_exceptions.py.
[[nodiscard]] inline std::uint64_t machine_now_ns() noexcept { return clock().now_ns(); }

/// Tells the core that the thread spins: once a turn of a spinning loop.
inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace headway::base
