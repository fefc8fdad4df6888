#pragma once

#include <atomic>

#include "progress/core/engine.hpp"
#include "progress/core/ltask.hpp"

namespace headway::packets {

/// Makes a background thread send packets that were left to it (HEADWAY_OFFLOAD=notify).
/// Threads: `nudge` any; `stop` when no other thread calls it.
class nudger {
 public:
  nudger(progress::engine& engine, progress::offloading how) noexcept
      : engine_(engine), notifies_(how == progress::offloading::notify) {}

  void nudge() noexcept {
    // Acquire: pairs with the release at the task's end.
    if (notifies_ && !task_.queued.exchange(true, std::memory_order_acquire))
      engine_.submit_to_background(task_);
  }
  void stop() noexcept { static_cast<void>(engine_.cancel(task_)); }

 private:
  struct task : progress::ltask {
    task() noexcept : ltask("send what was left", &task::run, progress::ltask_kind::one_shot) {}
    static progress::ltask_result run(progress::ltask& self) noexcept {
      // Release: the next submitter sees that the task is no longer in use. The ltasks of the
      // rails, in the round that follows, do the work.
      static_cast<task&>(self).queued.store(false, std::memory_order_release);
      return progress::ltask_result::done;
    }
    std::atomic<bool> queued{false};
  };

  progress::engine& engine_;
  const bool notifies_;
  task task_;
};

}  // namespace headway::packets
