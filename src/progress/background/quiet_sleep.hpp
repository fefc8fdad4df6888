#pragma once

#include <climits>
#include <cstdint>

#include "base/atomic.hpp"
#include "base/clock.hpp"
#include "base/futex.hpp"
#include "progress/background/kernel_sleeper.hpp"
#include "progress/core/engine_counters.hpp"
#include "progress/core/meter.hpp"
#include "progress/core/pending.hpp"
#include "progress/core/queue_tree.hpp"
#include "progress/os/boost_cache.hpp"
#include "progress/waiting/thread_record.hpp"

namespace headway::progress {

/// Where background threads sleep without a time limit while they have nothing to do.
/// Threads:  every function any thread.
/// Progress: `tell` is a load while no thread sleeps here, and never waits.
class quiet_sleep {
 public:
  quiet_sleep(basic_pending<>& work, queue_tree& queues, kernel_sleeper& sleeper,
              boost_cache& boosted, engine_counters& counted, base::clock clock) noexcept
      : work_(work),
        queues_(queues),
        sleeper_(sleeper),
        boosted_(boosted),
        counted_(counted),
        clock_(clock) {}

  /// No work for background threads, or a waiting thread sleeps on all event sources.
  [[nodiscard]] bool nothing_to_do() const noexcept {
    return (work_.balance() == 0 && !queues_.has_taken()) ||
           sleeper_.held_by() == kernel_sleeper::holder::application;
  }

  /// Call when work has come (`pending.started`, a submission), or a waiting thread no longer
  /// sleeps on the event sources: wakes the threads that sleep here if there is now something for
  /// them.
  void tell() noexcept {
    if (gate_.closed()) [[unlikely]]
      wake_if_needed();
  }
  void wake_if_needed() noexcept {
    if (!nothing_to_do()) wake_all();
  }
  void wake_all() noexcept {
    if (gate_.open()) base::futex_wake(gate_.futex_word(), INT_MAX);
  }

  /// Sleeps until `tell` or the deadline, unless there is something to do or `stop` is set.
  void sleep(const base::atomic<std::uint32_t>& stop,
             std::uint64_t deadline_ns = base::no_deadline) noexcept {
    sleep_behind_gate(gate_.close(), stop, deadline_ns);
  }
  /// The same for the thread that gives boosts back (boost_cache.hpp): returns also when the next
  /// one is due.
  std::uint64_t sleep_until_boost_is_due(const base::atomic<std::uint32_t>& stop) noexcept {
    const auto closed = gate_.close();
    const auto due = boosted_.give_back_due(clock_.now_ns());
    sleep_behind_gate(closed, stop, due);
    return due;
  }
  /// There is a new boost to give back.
  void tell_of_boost() noexcept {
    wake_all();
    sleeper_.kick_sleeper();
  }

 private:
  void sleep_behind_gate(std::uint32_t closed, const base::atomic<std::uint32_t>& stop,
                         std::uint64_t deadline_ns) noexcept {
    if (nothing_to_do() && !stop.load(std::memory_order_seq_cst)) {
      engine_counters::count(counted_.quiet_sleeps);
      const stretch timed(this_thread().measured, "quiet", &meter::sleeps, &meter::slept_ns);
      base::futex_wait(gate_.futex_word(), closed, deadline_ns);
    }
  }

  basic_pending<>& work_;
  queue_tree& queues_;
  kernel_sleeper& sleeper_;
  boost_cache& boosted_;
  engine_counters& counted_;
  const base::clock clock_;
  basic_gate<> gate_;
};

}  // namespace headway::progress
