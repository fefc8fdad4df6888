#pragma once

#include <cstdint>
#include <vector>

#include "base/atomic.hpp"
#include "base/mutex.hpp"

namespace headway::progress {

/// Functions that are called about thirty times a second, by any thread that is awake and has read
/// the clock: so often because a process that is dead is noticed in one of them.
/// Threads:  every function any thread; no two ticks run at the same time; none adds or removes a
///           tick.
/// Progress: `run_if_due` never waits; `remove` waits until no tick runs.
class ticks {
 public:
  using function = void (*)(void* argument) noexcept;
  static constexpr std::uint64_t period_ns = 33'000'000;
  static constexpr std::uint32_t each_tenth_second = 3;  ///< for what is due about so often
  static constexpr std::size_t count_max = 9;            // the engine's own, and eight others

  /// Calls it in each `every`-th of these times.
  void add(function tick, void* argument, std::uint32_t every);
  void remove(function tick, void* argument);
  void run_if_due(std::uint64_t now_ns) noexcept {
    if (now_ns >= due_ns_.load(std::memory_order_relaxed)) [[unlikely]]
      run(now_ns);  // a hint
  }

 private:
  struct entry {
    function tick;
    void* argument;
    std::uint32_t every;
  };
  void run(std::uint64_t now_ns) noexcept;

  base::atomic<std::uint64_t> due_ns_{0};
  base::mutex lock_;  // cold
  std::vector<entry> entries_ HEADWAY_GUARDED_BY(lock_);
  std::uint32_t times_ HEADWAY_GUARDED_BY(lock_) = 0;
};

}  // namespace headway::progress
