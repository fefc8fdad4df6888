#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include "base/atomic.hpp"
#include "progress/engine_core.hpp"
#include "progress/giving_way.hpp"
#include "progress/pace.hpp"
#include "progress/scheduling.hpp"

namespace headway::progress {

/// A thread that polls at a period while something is pending and nobody else polls: the timer
/// (one thread, ordinary priority), or idle polling (one for each core, only where it is idle).
/// Threads:  its own, started and ended by the constructor and the destructor.
/// Source:   pioman15 (mechanisms 2 and 6).
class poller {
 public:
  struct plan {
    thread_plan thread;
    std::uint64_t period_ns = 0;  ///< 0: yields between rounds
    bool when_idle = false;
    std::uint64_t calm_period_ns = 0;  ///< the longest, while nothing is urgent
    std::uint64_t slowdown = 1;        ///< from one to the other, each millisecond
  };

  poller(engine_core& core, plan how);
  ~poller();
  poller(const poller&) = delete;
  poller& operator=(const poller&) = delete;

  /// Keeps off the cores of computing threads that are bound there, while another core is free.
  /// One thread at a time.
  void keep_off(const std::vector<int>& bound) noexcept;

 private:
  void run() noexcept;
  void pause(std::uint64_t for_ns) noexcept;
  void pause_after_round(std::uint64_t period_ns) noexcept;
  void rest() noexcept;
  [[nodiscard]] std::uint64_t next_period_ns(bool moved) noexcept;

  engine_core& core_;
  const plan plan_;
  base::atomic<std::uint32_t> stop_{0};
  base::atomic<pid_t> kernel_thread_{0};
  base::atomic<std::uint32_t> resting_{0};  // futex word: 1 while no core is free for it
  std::vector<int> at_;                     // where it runs now; of who calls `keep_off`
  // What follows is the thread's own.
  std::uint64_t lifts_seen_ = 0;
  pace pace_;
  std::uint32_t starts_seen_ = 0;
  giving_way way_;
  std::thread thread_;  // last: it uses all the others
};

}  // namespace headway::progress
