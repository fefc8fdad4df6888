#pragma once

#include <cstdint>
#include <ctime>

#include "base/atomic.hpp"

namespace headway::base {

/// In ns, as times are counted.
inline constexpr std::uint64_t us = 1'000, ms = 1'000'000;

/// A source of time: the machine's monotonic clock, or, under simulation, a number that the test
/// advances.
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

namespace detail {
inline constinit clock process_clock;
}  // namespace detail

/// The time of the process's clock, in nanoseconds: for code that has no `clock` of its own.
[[nodiscard]] inline std::uint64_t now_ns() noexcept { return detail::process_clock.now_ns(); }

/// For as long as it lives, `now_ns` of the whole process is a number that the test advances.
/// Threads:  made and destroyed while no other thread runs that asks for the time.
class process_clock_override {
 public:
  explicit process_clock_override(const atomic<std::uint64_t>& virtual_now_ns) noexcept
      : before_(detail::process_clock) {
    detail::process_clock = clock(virtual_now_ns);
  }
  ~process_clock_override() { detail::process_clock = before_; }
  process_clock_override(const process_clock_override&) = delete;
  process_clock_override& operator=(const process_clock_override&) = delete;

 private:
  clock before_;
};

/// Tells the core that the thread spins: once a turn of a spinning loop.
inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace headway::base
