#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::progress_api {

enum class task_phase : std::uint32_t {
  inactive = 0,   ///< not submitted: belongs to its owner
  active = 1,     ///< in a queue, or running
  suspended = 2,  ///< belongs to no thread until it is resumed
  blocking = 3,   ///< in the thread that calls its blocking form
};

/// The phase of a task and the requests of other threads, in one word.
/// Threads:  `begin` the owner; `leave`, `end` and `clear_resumed_early` the thread that runs it;
///           `put` the thread that has removed it from its queue; `come_back` the blocking thread;
///           the others any.
/// Progress: never waits.
template <template <class> class Atomic = base::atomic>
class basic_task_phase {
  // Hazards, and what removes each:
  //   a resume between the body's decision to suspend and the change to suspended is lost: `resume`
  //     sets the request `resumed_early` by (R), which fails if (P) has changed the phase; (P)
  //     fails if the request is set
  //   what a run did is not seen by the thread that resumes and queues: (P) release -> (R) acquire
  //   asked to end, and suspended for ever: (P) fails if the request is set; the thread that asks
  //     resumes afterwards
  // Checked by: tests/model/suspend_model.cpp, tests/progress/task_stress.cpp under TSan.
 public:
  enum request : std::uint32_t {
    resumed_early = 4,  ///< `resume` preceded the suspension and cancels it
    end_asked = 8,      ///< the task is asked to end
    return_asked = 16,  ///< the blocking thread is asked to return the task to its queue
  };
  enum class resumed : std::uint8_t { inactive, continues, to_be_queued };

  [[nodiscard]] task_phase get() const noexcept {
    return phase(word_.load(std::memory_order_acquire));  // pairs with `come_back` and `end`
  }
  /// Relaxed: a request may be seen late.
  [[nodiscard]] bool asked(std::uint32_t requests) const noexcept {
    return (word_.load(std::memory_order_relaxed) & requests) != 0;
  }
  void begin() noexcept { word_.store(active, std::memory_order_release); }
  void end() noexcept { word_.store(inactive, std::memory_order_release); }
  /// Changes active to `to`; false, and no change, if one of the requests in `unless` is set.
  [[nodiscard]] bool leave(task_phase to, std::uint32_t unless) noexcept {
    auto now = word_.load(std::memory_order_relaxed);
    while ((now & unless) == 0) {
      const auto next = static_cast<std::uint32_t>(to) | (now & (resumed_early | end_asked));
      if (word_.compare_exchange_weak(now, next, std::memory_order_release,  // (P)
                                      std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  void clear_resumed_early() noexcept {
    word_.fetch_and(~static_cast<std::uint32_t>(resumed_early), std::memory_order_relaxed);
  }
  void put(task_phase to) noexcept {
    auto now = word_.load(std::memory_order_relaxed);
    while (!word_.compare_exchange_weak(now, static_cast<std::uint32_t>(to) | (now & end_asked),
                                        std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
  [[nodiscard]] resumed resume() noexcept {
    auto now = word_.load(std::memory_order_acquire);  // (R)
    for (;;) {
      if (phase(now) == task_phase::inactive) return resumed::inactive;
      const bool suspended = phase(now) == task_phase::suspended;
      const auto next = suspended ? active | (now & end_asked) : now | resumed_early;
      if (word_.compare_exchange_weak(now, next, std::memory_order_acq_rel,  // (R)
                                      std::memory_order_acquire))
        return suspended ? resumed::to_be_queued : resumed::continues;
    }
  }
  /// Changes suspended to active; the task, in no queue, then belongs to the calling thread alone.
  [[nodiscard]] bool claim_suspended() noexcept {
    auto now = word_.load(std::memory_order_relaxed);
    while (phase(now) == task_phase::suspended)
      if (word_.compare_exchange_weak(now, active, std::memory_order_acquire,  // (R)
                                      std::memory_order_relaxed))
        return true;
    return false;
  }
  /// Sets a request; false, and no change, if the task is inactive.
  [[nodiscard]] bool ask(std::uint32_t what) noexcept {
    auto now = word_.load(std::memory_order_relaxed);
    while (phase(now) != task_phase::inactive)
      if (word_.compare_exchange_weak(now, now | what, std::memory_order_relaxed,
                                      std::memory_order_relaxed))
        return true;
    return false;
  }
  /// Changes blocking to active.
  void come_back() noexcept {
    auto now = word_.load(std::memory_order_relaxed);
    while (!word_.compare_exchange_weak(now, active | (now & (resumed_early | end_asked)),
                                        std::memory_order_release, std::memory_order_relaxed)) {
    }
  }

 private:
  static constexpr std::uint32_t inactive = 0, active = 1;
  [[nodiscard]] static task_phase phase(std::uint32_t word) noexcept {
    return static_cast<task_phase>(word & 3);
  }
  Atomic<std::uint32_t> word_{inactive};
};

}  // namespace headway::progress_api
