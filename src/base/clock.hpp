#pragma once

#include <cstdint>
#include <ctime>

namespace headway::base {

/// Monotonic time of this machine, in nanoseconds. About 19 ns a call; any thread; never fails.
[[nodiscard]] inline std::uint64_t now_ns() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

/// One breath of a spinning thread: tells the core that it waits.
inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace headway::base
