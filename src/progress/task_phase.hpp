#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::progress {

enum class task_phase : std::uint32_t {
  resting = 0,    ///< its owner's
  active = 1,     ///< in a queue, or running
  suspended = 2,  ///< nobody's until it is resumed
  blocking = 3,   ///< with the thread that calls its blocking form
};

/// Where a task is, and what others wish of it, in one word.
/// Threads:  `begin` the owner; `leave`, `rest` and `clear_stay` who runs it; `put` who has taken
///           it back from its queue; `come_back` the blocking thread; the others any.
/// Progress: never waits.
template <template <class> class Atomic = base::atomic>
class basic_task_phase {
  // Hazards, and what removes each:
  //   resumed between the body's decision to suspend and the change to suspended: `resume` leaves
  //     the wish `stay` by (R), which fails once (P) has changed the phase, and (P) fails when it
  //     is there
  //   what a run did is not seen by who resumes and queues: (P) release -> (R) acquire
  //   asked to end, and suspended for ever: (P) fails when it is there; who asks resumes afterwards
  // Checked by: tests/model/suspend_model.cpp, tests/progress/task_stress.cpp under TSan.
 public:
  enum wish : std::uint32_t {
    stay = 4,        ///< `resume` came: the next suspension is void
    to_end = 8,      ///< asked to end
    to_return = 16,  ///< the blocking thread shall give it back
  };
  enum class resumed : std::uint8_t { rests, goes_on, to_be_queued };

  [[nodiscard]] task_phase get() const noexcept {
    return phase(word_.load(std::memory_order_acquire));  // pairs with `come_back` and `rest`
  }
  /// Relaxed: a wish is seen late at worst.
  [[nodiscard]] bool wished(std::uint32_t wishes) const noexcept {
    return (word_.load(std::memory_order_relaxed) & wishes) != 0;
  }
  void begin() noexcept { word_.store(active, std::memory_order_release); }
  void rest() noexcept { word_.store(resting, std::memory_order_release); }
  /// From active to `to`; false: one of these wishes is there, and nothing was changed.
  [[nodiscard]] bool leave(task_phase to, std::uint32_t unless) noexcept {
    auto now = word_.load(std::memory_order_relaxed);
    while ((now & unless) == 0) {
      const auto next = static_cast<std::uint32_t>(to) | (now & (stay | to_end));
      if (word_.compare_exchange_weak(now, next, std::memory_order_release,  // (P)
                                      std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  void clear_stay() noexcept {
    word_.fetch_and(~static_cast<std::uint32_t>(stay), std::memory_order_relaxed);
  }
  void put(task_phase to) noexcept {
    auto now = word_.load(std::memory_order_relaxed);
    while (!word_.compare_exchange_weak(now, static_cast<std::uint32_t>(to) | (now & to_end),
                                        std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
  [[nodiscard]] resumed resume() noexcept {
    auto now = word_.load(std::memory_order_acquire);  // (R)
    for (;;) {
      if (phase(now) == task_phase::resting) return resumed::rests;
      const bool lies = phase(now) == task_phase::suspended;
      const auto next = lies ? active | (now & to_end) : now | stay;
      if (word_.compare_exchange_weak(now, next, std::memory_order_acq_rel,  // (R)
                                      std::memory_order_acquire))
        return lies ? resumed::to_be_queued : resumed::goes_on;
    }
  }
  /// From suspended to active, and in no queue: nobody else gets hold of it.
  [[nodiscard]] bool claim_suspended() noexcept {
    auto now = word_.load(std::memory_order_relaxed);
    while (phase(now) == task_phase::suspended)
      if (word_.compare_exchange_weak(now, active, std::memory_order_acquire,  // (R)
                                      std::memory_order_relaxed))
        return true;
    return false;
  }
  /// False: it rests, and nothing was changed.
  [[nodiscard]] bool wish(std::uint32_t what) noexcept {
    auto now = word_.load(std::memory_order_relaxed);
    while (phase(now) != task_phase::resting)
      if (word_.compare_exchange_weak(now, now | what, std::memory_order_relaxed,
                                      std::memory_order_relaxed))
        return true;
    return false;
  }
  /// From blocking to active.
  void come_back() noexcept {
    auto now = word_.load(std::memory_order_relaxed);
    while (!word_.compare_exchange_weak(now, active | (now & (stay | to_end)),
                                        std::memory_order_release, std::memory_order_relaxed)) {
    }
  }

 private:
  static constexpr std::uint32_t resting = 0, active = 1;
  [[nodiscard]] static task_phase phase(std::uint32_t word) noexcept {
    return static_cast<task_phase>(word & 3);
  }
  Atomic<std::uint32_t> word_{resting};
};

}  // namespace headway::progress
