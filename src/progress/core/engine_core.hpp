#pragma once

#include <cstdint>
#include <memory>

#include "base/atomic.hpp"
#include "base/clock.hpp"
#include "base/mask.hpp"
#include "progress/background/event_nap.hpp"
#include "progress/background/kernel_sleeper.hpp"
#include "progress/background/quiet_sleep.hpp"
#include "progress/background/spare_call.hpp"
#include "progress/core/deferred_work.hpp"
#include "progress/core/engine_counters.hpp"
#include "progress/core/library_lock.hpp"
#include "progress/core/misuse.hpp"
#include "progress/core/pending.hpp"
#include "progress/core/queue_tree.hpp"
#include "progress/core/settings.hpp"
#include "progress/core/stall_relief.hpp"
#include "progress/core/ticks.hpp"
#include "progress/os/boost_cache.hpp"
#include "progress/waiting/coscheduling.hpp"
#include "progress/waiting/load_estimate.hpp"
#include "progress/waiting/thread_record.hpp"

namespace headway::progress {

/// The parts of an engine that its waits and its background threads share.
/// Threads:  every function any thread.
/// Progress: no function waits, except `round` after it met a mask whose holder has lost its
///           processor (stall_relief.hpp).
struct engine_core {
  engine_core(const topology::machine& on, const settings& wanted, int processes,
              base::clock source, std::unique_ptr<kernel_sleeper> made)
      : machine(on),
        chosen(wanted),
        processes_on_node(processes),
        clock(source),
        queues(on, wanted.locks != locking::fine),
        sleeper(std::move(made)),
        library(wanted.locks == locking::coarse) {}

  const topology::machine& machine;
  const settings chosen;
  const int processes_on_node;  ///< of this job, this one included
  const base::clock clock;
  queue_tree queues;
  basic_pending<> work;
  const std::unique_ptr<kernel_sleeper> sleeper;
  ticks regular;
  library_lock library;

  /// The thread that polls, awake, on behalf of all waiting threads.
  alignas(64) base::mask wait_leader;
  /// An event thread runs: it takes over when there is no wait leader. Relaxed: a thread that sees
  /// an outdated value sleeps with a time limit once, or without one while an event thread is being
  /// stopped, which wakes it (`signal_all` in polling_points.cpp).
  base::atomic<bool> watched{false};
  /// Each process of the job can have a processor besides the one it computes on. Relaxed: a hint.
  base::atomic<bool> processor_to_spare{false};
  /// At most one thread waits at a time: `engine::expect_one_waiter`. Relaxed: a hint.
  base::atomic<bool> one_waiter{false};
  /// The number of waiting threads that are inside `pay_wake_ups`: each may have lost its processor
  /// to a thread that it wakes. Relaxed: a hint for `waiting::is_in_the_way`.
  base::atomic<std::uint32_t> ready_wakers{0};

  /// At most one thread of this process waits at a time, among computing threads that want every
  /// processor. A hint, computed from hints, as the two below.
  [[nodiscard]] bool one_waits_among_computing_threads() const noexcept {
    return load.oversubscribed_by_others() && !load.several_wait(clock.now_ns());
  }
  /// The kernel gives it more of the processor than each of the others has.
  [[nodiscard]] bool may_have_weight() const noexcept {
    return chosen.greatest_weight && sched_boost::may_raise_weight();
  }
  /// It has the processor in turns, with its own share of it.
  [[nodiscard]] bool one_waits_in_turns() const noexcept {
    return one_waits_among_computing_threads() && !may_have_weight();
  }

  /// A thread spins without polling (`engine::begin_lone_spin`). Relaxed: it carries nothing, and
  /// only keeps others from it.
  base::atomic<bool> lone_spin{false};

  engine_counters counted;
  load_estimate load{counted, clock};
  coscheduling pairs;
  stall_relief stalls{queues, counted, clock};
  boost_cache boosted;
  spare_call spare;
  deferred_work deferred;
  event_nap nap;
  quiet_sleep quiet{work,
                    queues,
                    *sleeper,
                    boosted,
                    counted,
                    clock,
                    processes_on_node >= machine.node_processors()};

  /// A round whose wake-ups are deferred: the caller makes them with `me.pay_wake_ups()`.
  [[gnu::hot]] queue_tree::outcome round(thread_record& me, round_kind kind,
                                         bool everywhere) noexcept {
    const library_lock::section alone(library, me);
    me.in_round = true;
    auto o = me.measured ? measured_round(me, kind, everywhere) : visit(me, kind, everywhere);
    if (me.looks_again) [[unlikely]]
      look_again(me, kind, o);
    me.in_round = false;
    if (o.one_shots) work.passed(o.one_shots);
    if (o.met_taken_mask) stalls.met_taken_mask(me);
    return o;
  }

  /// Wakes the threads that `me` owes a wake-up, before `me` counts as asleep. If no processor is
  /// free, the kernel may give the processor of `me` to a woken thread before the system call
  /// returns. If that thread becomes the wait leader, it polls on the processor that `me` needs.
  /// While `ready_wakers` is not 0, a wait leader that finds nothing yields. [the thread of `me`] A
  /// system call for each wake-up.
  void pay_wake_ups(thread_record& me) noexcept {
    if (me.owed_count == 0) return;
    const bool may_lose_it = !processor_to_spare.load(std::memory_order_relaxed);
    if (may_lose_it) ready_wakers.fetch_add(1, std::memory_order_relaxed);
    me.pay_wake_ups();
    if (may_lose_it) ready_wakers.fetch_sub(1, std::memory_order_relaxed);
  }

  /// Compares the threads that want to run with the processors, and sets what `auto` derives from
  /// it; about 10 us, ten times a second, one thread at a time.
  void sample_load() noexcept;

  static void forbid_inside_ltask(const thread_record& me, const char* call) noexcept {
    if (me.running) [[unlikely]]
      misuse("ltask '{}' calls {} from its body: an ltask never waits and never polls",
             me.running->name(), call);
  }

 private:
  queue_tree::outcome visit(thread_record& me, round_kind kind, bool everywhere) noexcept {
    return everywhere ? queues.sweep(me, kind) : queues.climb(me, kind);
  }
  queue_tree::outcome measured_round(thread_record& me, round_kind kind, bool everywhere) noexcept;
  /// Further rounds, until no ltask has asked for another one. A queue that another thread holds
  /// needs none: that thread has taken it later, and finds what is due.
  [[gnu::noinline]] void look_again(thread_record& me, round_kind kind,
                                    queue_tree::outcome& sum) noexcept;
};

}  // namespace headway::progress
