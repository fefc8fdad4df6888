#pragma once

#include <climits>
#include <cstdint>
#include <memory>

#include "base/atomic.hpp"
#include "base/futex.hpp"
#include "base/mask.hpp"
#include "base/spinlock.hpp"
#include "progress/engine.hpp"
#include "progress/guard.hpp"
#include "progress/kept_weight.hpp"
#include "progress/meter.hpp"
#include "progress/misuse.hpp"
#include "progress/pending.hpp"
#include "progress/queue_tree.hpp"
#include "progress/thread_record.hpp"
#include "progress/ticks.hpp"

namespace headway::progress {

/// The parts of an engine that its waits and its background threads share.
/// Threads:  every function any thread.
/// Progress: no function waits.
struct engine_core {
  engine_core(const topology::machine& on, const engine_options& chosen,
              std::unique_ptr<guard> made)
      : machine(on),
        queues(on, chosen.locks != locking::fine),
        sentry(std::move(made)),
        options(chosen) {}

  const topology::machine& machine;
  queue_tree queues;
  basic_pending<> work;
  basic_gate<> quiet;
  std::unique_ptr<guard> sentry;
  ticks every_100_ms;
  const engine_options options;

  /// Under coarse locking: the one lock of the library. Taken anew inside itself by counting.
  base::spinlock library;
  void enter(thread_record& me) noexcept {
    if (me.inside++ == 0) library.lock();
  }
  void leave(thread_record& me) noexcept {
    if (--me.inside == 0) library.unlock();
  }
  /// For as long as it lives, the calling thread is inside; not under any other locking.
  class section {
   public:
    section(engine_core& core, thread_record& me) noexcept
        : core_(core.options.locks == locking::coarse ? &core : nullptr), me_(me) {
      if (core_) [[unlikely]]
        core_->enter(me_);
    }
    ~section() {
      if (core_) [[unlikely]]
        core_->leave(me_);
    }
    section(const section&) = delete;
    section& operator=(const section&) = delete;

   private:
    engine_core* const core_;
    thread_record& me_;
  };

  /// Who polls on behalf of all waiting threads, awake.
  alignas(64) base::mask lead;
  /// An event thread runs: it takes over when the lead is vacant. Relaxed: it carries nothing, and
  /// whoever sees an old value sleeps with a time limit once, or without one beside a thread that
  /// is being stopped, which wakes it (engine.cpp, `stop_threads`).
  base::atomic<bool> watched{false};
  /// More threads want processors than there are. Relaxed: a hint for how to wait.
  base::atomic<bool> crowded{false};
  /// Until then several threads of the process wait for messages: the processor that one of them
  /// would have more of is what the others need. Relaxed: a hint.
  base::atomic<std::uint64_t> several_wait_until_ns{0};
  kept_weight kept;
  /// The ranks of this job alone are more than the processors. Relaxed, likewise.
  base::atomic<bool> outnumbered{false};

  /// Each process of the job could have a processor more than the one it computes on. Relaxed,
  /// likewise.
  base::atomic<bool> hands_to_spare{false};

  /// The poller on a spare processor (spare_poller.hpp), as the event thread sees it. `called_ns`
  /// is handed over by `called`, release to acquire; the others are relaxed hints: a call that is
  /// lost, or comes while it pays no more, leaves the work to the event thread.
  struct spare_state {
    base::atomic<std::uint32_t> called{0};  ///< futex word: 1 from the call to the end of the spell
    base::atomic<std::uint64_t> called_ns{0};
    base::atomic<std::uint64_t> not_before_ns{0};  ///< it withdrew until then
    base::atomic<bool> exists{false};
    base::atomic<bool> pays{false};
    base::atomic<bool> polls{false};
    base::atomic<std::uint32_t> beats{0};  ///< changes while it has its processor
  } spare;
  /// Events come one after another: the spare poller shall take over, if there is one and it pays.
  void call_spare(std::uint64_t now_ns) noexcept {
    if (!spare.pays.load(std::memory_order_relaxed) ||
        now_ns < spare.not_before_ns.load(std::memory_order_relaxed) ||
        spare.called.load(std::memory_order_relaxed) != 0)
      return;
    spare.called_ns.store(now_ns, std::memory_order_relaxed);
    spare.called.store(1, std::memory_order_release);
    base::futex_wake(spare.called, 1);
  }

  /// The event thread's naps between looks are slept here; a change ends the one under way.
  base::atomic<std::uint32_t> nap_word{0};
  void rouse_event_thread() noexcept {
    nap_word.fetch_add(1, std::memory_order_relaxed);  // the futex compares; it carries nothing
    base::futex_wake(nap_word, 1);
  }
  /// What it took recently until a thread of ours ran after it should. Relaxed, the event thread's.
  base::atomic<std::uint64_t> wake_ns{20'000};

  struct counters {  // slow paths only, so plain additions will do; relaxed, they carry nothing
    base::atomic<std::uint64_t> sleeps{0}, guard_sleeps{0}, hand_overs{0}, event_looks{0},
        event_sleeps{0}, quiet_sleeps{0}, lifts{0}, idle_rests{0}, demotions{0}, delays{0},
        spare_spells{0}, spare_withdrawals{0};
    base::atomic<std::uint64_t> attended_looks{0};
  } counted;
  static void count(base::atomic<std::uint64_t>& counter) noexcept {
    counter.fetch_add(1, std::memory_order_relaxed);
  }

  /// A round whose wake-ups are still owed: `me.pay_wake_ups()` is the caller's.
  [[gnu::hot]] queue_tree::outcome round(thread_record& me, round_kind kind,
                                         bool everywhere) noexcept {
    const section alone(*this, me);
    me.in_round = true;
    const auto o = me.measured ? measured_round(me, kind, everywhere) : visit(me, kind, everywhere);
    me.in_round = false;
    if (o.one_shots) work.passed(o.one_shots);
    if (o.met_taken_mask) mind_stall(me);
    return o;
  }

  /// Either nobody needs our threads, or an application thread guards everything.
  [[nodiscard]] bool nothing_for_background() const noexcept {
    return (work.balance() == 0 && !queues.has_unrun()) ||
           sentry->held_by() == guard::holder::application;
  }
  /// After work came (`work.started`, a submission), or an application thread ceased to guard:
  /// wakes our threads from their quiet sleep if there is something for them now.
  void tell_background() noexcept {
    if (quiet.closed()) [[unlikely]]
      wake_background();
  }
  void wake_background() noexcept {
    if (!nothing_for_background()) open_quiet();
  }
  void open_quiet() noexcept {
    if (quiet.open()) base::futex_wake(quiet.futex_word(), INT_MAX);
  }
  /// Sleeps until `tell_background` or the deadline, unless there is something to do or `stop` is
  /// set.
  void sleep_quietly(const base::atomic<std::uint32_t>& stop,
                     std::uint64_t deadline_ns = base::no_deadline) noexcept {
    quiet.close();
    sleep_at_gate(stop, deadline_ns);
  }
  /// The same for the keeper of weight. The time of the next look.
  std::uint64_t sleep_as_keeper(const base::atomic<std::uint32_t>& stop) noexcept {
    quiet.close();
    const auto due = kept.look(base::now_ns());
    sleep_at_gate(stop, due);
    return due;
  }
  void tell_keeper() noexcept {
    open_quiet();
    sentry->kick_sleeper();
  }

  /// A taken mask was met: if one tenure lasts long, lets its holder run.
  void mind_stall(thread_record& me) noexcept;
  /// Compares threads that want to run with processors, and what `auto` makes of it; about 10 us,
  /// ten times a second.
  void look_around() noexcept;
  /// A waiting thread that has looked at the clock: did it want its processor in vain lately? That
  /// is a crowd too, whoever else is there, and wherever we are confined to.
  void mind_delay(thread_record& me, std::uint64_t now_ns) noexcept {
    if (now_ns >= me.delay_due_ns) [[unlikely]]
      look_at_delay(me, now_ns);
  }
  /// Somebody who met a mask of the caller's while it had no processor may have lifted it, see
  /// `mind_stall`. A low-priority thread calls this after its rounds; `seen` is its own.
  void regain_low_priority(std::uint64_t& seen) const noexcept;
  static void forbid_inside_ltask(const thread_record& me, const char* call) noexcept {
    if (me.running) [[unlikely]]
      misuse("ltask '{}' calls {} from its body: an ltask never waits and never polls",
             me.running->name(), call);
  }

 private:
  void sleep_at_gate(const base::atomic<std::uint32_t>& stop, std::uint64_t deadline_ns) noexcept {
    if (!nothing_for_background() || stop.load(std::memory_order_seq_cst)) return;
    count(counted.quiet_sleeps);
    const stretch timed(this_thread().measured, "quiet", &meter::sleeps, &meter::slept_ns);
    base::futex_wait(quiet.futex_word(), 1, deadline_ns);
  }
  void help(base::mask::ticket holder) noexcept;
  void look_for_crowd() noexcept;
  void look_at_delay(thread_record& me, std::uint64_t now_ns) noexcept;
  queue_tree::outcome visit(thread_record& me, round_kind kind, bool everywhere) noexcept {
    return everywhere ? queues.sweep(me, kind) : queues.climb(me, kind);
  }
  queue_tree::outcome measured_round(thread_record& me, round_kind kind, bool everywhere) noexcept;

  base::atomic<int> crowded_looks_{0};
  base::atomic<std::uint64_t> delayed_until_ns_{0};  ///< a delay counts as a crowd for so long
};

}  // namespace headway::progress
