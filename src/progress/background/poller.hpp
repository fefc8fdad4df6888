#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include "base/atomic.hpp"
#include "progress/background/idle_backoff.hpp"
#include "progress/background/poll_interval.hpp"
#include "progress/core/engine_core.hpp"
#include "progress/os/scheduling.hpp"

namespace headway::progress {

/// A thread that polls periodically while something is pending and no other thread polls: the timer
/// (one thread, ordinary priority), or idle polling (one thread for each core, only where it is
/// idle).
/// Threads:  its own, started and ended by the constructor and the destructor.
/// Source:   pioman15 (mechanisms 2 and 6).
class poller {
 public:
  struct plan {
    thread_plan thread;
    std::uint64_t period_ns = 0;  ///< 0: yields between rounds
    bool when_idle = false;
    std::uint64_t calm_period_ns = 0;    ///< the longest, while nothing is urgent
    std::uint64_t slowdown = 1;          ///< factor from one to the other, each millisecond
    std::uint32_t count = 1, index = 0;  ///< the number of such pollers, and the index of this one
  };

  poller(engine_core& core, plan how);
  ~poller();
  poller(const poller&) = delete;
  poller& operator=(const poller&) = delete;

  /// Leaves these processors, to which computing threads are bound, while another core is free. One
  /// caller at a time.
  void avoid(const std::vector<int>& bound) noexcept;

 private:
  void run() noexcept;
  void pause(std::uint64_t for_ns) noexcept;
  [[nodiscard]] bool sweeps(std::uint32_t round) const noexcept;
  void pause_after_round(std::uint64_t period_ns) noexcept;
  void rest() noexcept;
  [[nodiscard]] std::uint64_t next_period_ns(bool moved) noexcept;

  engine_core& core_;
  const plan plan_;
  base::atomic<std::uint32_t> stop_{0};
  base::atomic<pid_t> kernel_thread_{0};
  base::atomic<std::uint32_t> resting_{0};  // futex word: 1 while no core is free for it
  std::vector<int> at_;                     // where it may run now; used by `avoid`
  // Used by its thread only:
  std::uint64_t lifts_seen_ = 0;
  poll_interval interval_;
  std::uint32_t starts_seen_ = 0;
  idle_backoff backoff_;
  std::thread thread_;  // last: it uses all others
};

}  // namespace headway::progress
