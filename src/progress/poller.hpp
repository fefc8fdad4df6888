#pragma once

#include <cstdint>
#include <thread>

#include "base/atomic.hpp"
#include "progress/engine_core.hpp"
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
  };

  poller(engine_core& core, plan how);
  ~poller();
  poller(const poller&) = delete;
  poller& operator=(const poller&) = delete;

 private:
  void run() noexcept;
  void pause(std::uint64_t for_ns) noexcept;
  void regain_low_priority() noexcept;

  engine_core& core_;
  const plan plan_;
  base::atomic<std::uint32_t> stop_{0};
  base::atomic<pid_t> kernel_thread_{0};
  std::uint64_t lifts_seen_ = 0;  // of the thread
  std::thread thread_;            // last: it uses all the others
};

}  // namespace headway::progress
