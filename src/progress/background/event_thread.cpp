#include "progress/background/event_thread.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/thread_role.hpp"
#include "progress/core/meter.hpp"
#include "progress/os/scheduling.hpp"

namespace headway::progress {
namespace {

using base::us;
constexpr std::uint64_t first_pause_ns = 50 * us;
// Among more ranks than processors a look takes a processor on which another rank computes. With
// the pause above, SP of the NAS benchmarks (class A, 4 ranks on 2 cores) took 1.04 times as long
// as without progression, and with this one 1.00.
constexpr std::uint64_t first_pause_among_ranks_ns = 1'000 * us;
constexpr std::uint64_t longest_pause_ns = 1'000 * us;
// a thread sleeps that depends on this one
constexpr std::uint64_t longest_pause_relied_on_ns = 250 * us;
// with 16 ranks, 16 event threads look
constexpr std::uint64_t longest_pause_oversubscribed_ns = 4'000 * us;
// The slack of such a long pause: a tick of the kernel (250 a second in Debian). The pause then
// ends with the tick, and needs no timer interrupt of its own, which is expensive where a
// hypervisor emulates the timer (docs/experiments/E4.md, timer slack).
constexpr std::uint64_t long_pause_slack_ns = 4'000 * us;
// while one thread waits awake among computing threads
constexpr std::uint64_t pause_beside_waiting_ns = 20'000 * us;
constexpr std::uint64_t taken_pause_ns = 20 * us;
// Work that starts so long after the end of the last is a new phase of communication, not the next
// message of a sequence.
constexpr std::uint64_t long_rest_ns = 200 * us;
// A look takes 10 to 40 us of a computing thread, arming and disarming the sources half a
// microsecond: so many nanoseconds between two starts make it worth to park.
constexpr std::uint64_t worth_parking_ns = 10 * us;
// On an oversubscribed machine, a thread that wakes the event thread loses its processor to it, and
// may wait long for it. If the event thread is woken when everything is over already, the wake-up
// is a loss. So it goes quiet only after several looks that found nothing.
constexpr int idle_looks_before_rest = 3;
constexpr int vain_wake_ups = 2;

// A round may read megabytes from a socket. A thread that is in one for longer has lost its
// processor, or a debugger has stopped it, and other queues need this thread.
constexpr std::uint64_t longest_round_ns = 2'000 * us;

// the spare poller may lose its processor
constexpr std::uint64_t longest_pause_spare_ns = 200 * us;
constexpr std::uint64_t lasting_ns = 2'000 * us;  // events closer than this are a sequence
constexpr std::uint64_t budget_window_ns = 100'000 * us, budget_ns = 20'000 * us;

}  // namespace

event_thread::event_thread(engine_core& core) : core_(core), pause_ns_(first_pause_ns) {
  thread_ = start_thread({"hw-event", usable_processors(core.machine)}, [this] { run(); });
  core_.watched.store(true, std::memory_order_relaxed);
}

event_thread::~event_thread() {
  core_.watched.store(false, std::memory_order_relaxed);
  stop_.store(1, std::memory_order_seq_cst);  // pairs with the loads in quiet_sleep and watch
  core_.quiet.wake_all();
  core_.sleeper->kick();
  core_.nap.end();
  thread_.join();
  core_.boosted.owner_stopped();
}

void event_thread::run() noexcept {
  set_timer_slack(least_timer_slack_ns);
  base::enter_background();
  take_class();
  core_.boosted.owner_started();
  auto& me = this_thread();
  while (!stop_.load(std::memory_order_relaxed)) {
    if (core_.one_waits_in_turns() && core_.wait_leader.holder() != 0) {
      doze_while_one_waits();
      continue;
    }
    if (!idle_ || !rest()) doze();
    if (const auto found = look(); found == finding::unattended || found == finding::waited_for)
      watch(me);
    if (core_.sleeper->wanted()) pause(taken_pause_ns);  // it leaves at once
  }
}

/// True: the sleep was long, the machine is not oversubscribed, and what has begun is watched at
/// once.
/// A timed look for a polling thread would come first otherwise. Where a hypervisor emulates the
/// timer, that costs five times as much as a wake-up (12 us to set it, 40 us until it fires;
/// bench/timer), at the expense of the computing thread.
bool event_thread::rest() noexcept {
  const auto began = core_.clock.now_ns();
  bool was_short = false;
  if (const auto how = park(); how == quiet_sleep::unparked::calm) {
    // A wake-up only for a boost that was kept or is due does not end the sleep.
    while (core_.quiet.sleep_until_boost_is_due(stop_) !=
           core_.boosted.give_back_due(core_.clock.now_ns())) {
    }
    was_short = core_.clock.now_ns() - began < long_rest_ns;
  } else {
    was_short = how != quiet_sleep::unparked::armed;
  }
  rounds_seen_ = core_.queues.root().explicit_rounds();
  starts_seen_ = core_.work.starts();
  if (was_short) {
    was_woken_ = true;
    return false;
  }
  woken_in_vain_ = 0;
  pause_ns_ = first_pause();
  if (is_oversubscribed()) return false;
  engine_counters::count(core_.counted.event_looks);
  return true;
}

/// Not on an oversubscribed machine: there a thread that rings may lose its processor to this one
/// for long, and a look is cheaper.
bool event_thread::may_park() const noexcept {
  return !is_oversubscribed() && core_.sleeper->may_park();
}

quiet_sleep::unparked event_thread::park() noexcept {
  auto& sleeper = *core_.sleeper;
  if (!may_park() || !sleeper.try_take(kernel_sleeper::holder::background))
    return quiet_sleep::unparked::calm;
  const auto how = core_.quiet.park(stop_, core_.clock.now_ns() + ticks::period_ns);
  sleeper.release();
  return how;
}

/// The end of this sleep is known, so the cost of a wake-up is measured here, except after a long
/// pause, which may end late.
void event_thread::doze() noexcept {
  // a longer one means that the processor was taken away
  constexpr std::uint64_t longest_sample_ns = 1'000 * us;
  const auto due = core_.clock.now_ns() + pause_ns_;
  const bool is_long = pause_ns_ >= longest_pause_oversubscribed_ns;
  if (is_long) set_timer_slack(long_pause_slack_ns);
  pause(pause_ns_);
  if (is_long) set_timer_slack(least_timer_slack_ns);
  engine_counters::count(core_.counted.event_looks);
  const auto now = core_.clock.now_ns();
  static_cast<void>(core_.boosted.give_back_due(now));
  if (now < due || is_long) return;
  const auto took = std::min(now - due, longest_sample_ns);
  core_.nap.learn(took);
}

/// A look of this thread would end the turn that the waiting one has of the processor. If the
/// waiting thread stops just before this one sleeps, what is pending is late by the nap.
void event_thread::doze_while_one_waits() noexcept {
  core_.nap.sleep_beside_waiting(stop_, core_.clock.now_ns() + pause_beside_waiting_ns);
  engine_counters::count(core_.counted.event_looks);
  const auto now = core_.clock.now_ns();
  static_cast<void>(core_.boosted.give_back_due(now));
  core_.regular.run_if_due(now);
  rounds_seen_ = core_.queues.root().explicit_rounds();
  pause_ns_ = first_pause();
}

void event_thread::pause(std::uint64_t for_ns) noexcept {
  core_.nap.sleep(stop_, core_.clock.now_ns() + for_ns);
}

void event_thread::take_class() noexcept {
  const auto asked = core_.chosen.event_thread;
  const bool fifo = asked == event_class::fifo;
  real_time_ = asked != event_class::normal && run_in_real_time(fifo ? SCHED_FIFO : SCHED_RR);
  left_real_time_ = false;
  if (real_time_) return;
  if (asked != event_class::normal)
    base::log(base::severity::warning,
              "the kernel does not let the event thread into class '{}': it stays an ordinary one",
              fifo ? "fifo" : "rr");
  if (core_.chosen.greatest_weight) ask_short_slices_and_weight();
  else ask_short_slices();
}

void event_thread::charge_budget(std::uint64_t began_ns) noexcept {
  if (!real_time_) return;
  const auto now = core_.clock.now_ns();
  if (now - window_began_ns_ >= budget_window_ns) {
    window_began_ns_ = now;
    window_used_ns_ = 0;
    if (left_real_time_) take_class();
  }
  window_used_ns_ += now - began_ns;
  if (left_real_time_ || window_used_ns_ < budget_ns) return;
  left_real_time_ = true;
  engine_counters::count(core_.counted.demotions);
  ask_short_slices();
}

event_thread::finding event_thread::look() noexcept {
  const auto rounds = core_.queues.root().explicit_rounds();
  const auto starts = core_.work.starts();
  auto found = finding::attended;
  // While messages start in quick succession, looking costs less than a wake-up for each, or than
  // to arm event sources for each.
  const bool nothing = core_.quiet.nothing_to_do();
  const auto now = core_.clock.now_ns();
  const bool few = std::uint64_t{starts - starts_seen_} * worth_parking_ns <= now - looked_ns_;
  looked_ns_ = now;
  idle_looks_ = nothing && starts == starts_seen_ ? idle_looks_ + 1 : 0;
  if (nothing && was_woken_) ++woken_in_vain_;
  was_woken_ = false;
  const bool stays_up = is_oversubscribed() || woken_in_vain_ >= vain_wake_ups;
  idle_ = idle_looks_ >= (stays_up ? idle_looks_before_rest : 1) || (nothing && few && may_park());
  if (nothing) {
    found = finding::nothing;
  } else {
    core_.regular.run_if_due(now);
    // Rounds of the spare poller count as attendance, as long as it has its processor.
    const bool asked = core_.queues.root().has_submissions();  // and no thread has taken them
    const bool polled = rounds != rounds_seen_ || is_round_under_way(now);
    if (asked || (!polled && !spare_polls())) found = finding::unattended;
    else if (few && core_.quiet.attended() && may_park()) found = finding::waited_for;
    beats_seen_ = core_.spare.beats.load(std::memory_order_relaxed);
  }
  // Looks less and less often while other threads poll, and often again when they stop.
  if (found == finding::unattended) {
    woken_in_vain_ = 0;
    pause_ns_ = first_pause();
  } else {
    pause_ns_ = std::min(2 * pause_ns_, longest_pause());
  }
  rounds_seen_ = rounds;
  starts_seen_ = starts;
  return found;
}

/// Another thread has polled since the last look, or is polling.
bool event_thread::is_attended() noexcept {
  return core_.queues.root().explicit_rounds() != rounds_seen_ ||
         is_round_under_way(core_.clock.now_ns());
}

/// Another thread is in a round of the root, and has its processor as far as can be known.
bool event_thread::is_round_under_way(std::uint64_t now_ns) noexcept {
  const auto held = core_.queues.root().holder();
  if (held == 0 || (held & base::low_priority_bit) != 0) return false;
  if (held != round_seen_) {
    round_seen_ = held;
    round_seen_ns_ = now_ns;
  }
  return now_ns - round_seen_ns_ < longest_round_ns;
}

/// The spare poller polls, and has had its processor since the last look.
bool event_thread::spare_polls() const noexcept {
  return core_.spare.polls.load(std::memory_order_relaxed) &&
         core_.spare.beats.load(std::memory_order_relaxed) != beats_seen_;
}

std::uint64_t event_thread::first_pause() const noexcept {
  return core_.load.more_ranks_than_processors() ? first_pause_among_ranks_ns : first_pause_ns;
}

std::uint64_t event_thread::longest_pause() const noexcept {
  if (core_.spare.polls.load(std::memory_order_relaxed)) return longest_pause_spare_ns;
  if (core_.load.oversubscribed()) return longest_pause_oversubscribed_ns;
  if (woken_in_vain_ >= vain_wake_ups) return longest_pause_ns;
  const bool alone = core_.wait_leader.holder() == 0 && core_.quiet.is_relied_on();
  return alone ? longest_pause_relied_on_ns : longest_pause_ns;
}

void event_thread::watch(thread_record& me) noexcept {
  auto& sleeper = *core_.sleeper;
  if (!sleeper.try_take(kernel_sleeper::holder::background)) return;
  for (auto next = may_park() ? watching::parked : watching::armed; next != watching::ended;)
    next = next == watching::parked ? watch_parked(me) : watch_armed(me);
  sleeper.release();
}

bool event_thread::must_leave() const noexcept {
  return stop_.load(std::memory_order_seq_cst) != 0 || core_.sleeper->wanted() || spare_polls();
}

/// One sleep, in which the threads that begin and end to poll disarm and arm the sources, and what
/// follows it.
event_thread::watching event_thread::watch_parked(thread_record& me) noexcept {
  const auto began = core_.clock.now_ns(), until = began + ticks::period_ns;
  const auto attendances = core_.quiet.attendances();
  engine_counters::count(core_.counted.event_sleeps);
  const auto how = core_.quiet.park(stop_, until);
  const auto woken = core_.clock.now_ns();
  core_.regular.run_if_due(woken);
  if (how == quiet_sleep::unparked::busy || must_leave()) return watching::ended;
  const bool polled = is_attended();
  // Messages follow one another closely between threads that take turns to poll: as with `busy`.
  if (polled && woken - began < first_pause_ns) return watching::ended;
  rounds_seen_ = core_.queues.root().explicit_rounds();
  // What was submitted ends each sleep at once until it is taken, and the thread that attends may
  // lack the processor on which this one runs.
  const bool asked = core_.queues.has_submissions();
  // A thread that attends without polling does not run: a debugger has stopped it, perhaps.
  if (!asked && core_.quiet.attended())
    return polled || woken < until ? watching::parked : watching::armed;
  // A thread that polls without attending, as one that tests, leaves the sources armed: each
  // message would wake this thread, and a look by a timer costs less.
  if (polled && attendances == core_.quiet.attendances()) return watching::ended;
  const bool slept = how != quiet_sleep::unparked::other;
  return poll_after_sleep(me, slept) ? watching::parked : watching::ended;
}

/// One sleep for which this thread arms the sources, also while others poll, and what follows it.
event_thread::watching event_thread::watch_armed(thread_record& me) noexcept {
  const auto now = core_.clock.now_ns();
  const auto until = std::min(now + ticks::period_ns, core_.boosted.give_back_due(now));
  engine_counters::count(core_.counted.event_sleeps);
  bool slept = false;
  {
    const stretch timed(me.measured, "sleep on events", &meter::sleeps, &meter::slept_ns);
    const auto what = core_.quiet.worth_waking_for();
    slept = core_.sleeper->sleep(until, what, [&] {
      return must_leave() || core_.queues.has_submissions() ||
             what != core_.quiet.worth_waking_for();
    });
  }
  core_.regular.run_if_due(core_.clock.now_ns());
  if (must_leave() || is_attended()) return watching::ended;
  return poll_after_sleep(me, slept) ? watching::armed : watching::ended;
}

/// False: nothing is pending any more, or another way to sleep has become possible or impossible.
bool event_thread::poll_after_sleep(thread_record& me, bool slept) noexcept {
  const bool parks = may_park();
  const bool moved = poll_until_idle(me);
  // A source that another thread serves makes a sleep impossible; that thread may need this
  // processor.
  if (!moved && !slept) pause(taken_pause_ns);
  if (core_.work.balance() != 0) return parks == may_park();
  idle_ = !is_oversubscribed();
  return false;
}

/// True: something advanced. Each round visits every queue once, as if polled from no particular
/// place: one thread, woken by an event, does this, and takes the root no more often than a leaf.
bool event_thread::poll_until_idle(thread_record& me) noexcept {
  for (bool moved = false;;) {
    const auto began = real_time_ ? core_.clock.now_ns() : 0;
    const auto o = core_.round(me, round_kind::background, true);
    me.pay_wake_ups();
    charge_budget(began);
    if (o.advanced && !moved) {
      moved = true;
      call_spare_if_busy();
    }
    // The holder of the mask polls, or needs the processor of this thread.
    if (o.met_taken_mask && !o.advanced) pause(taken_pause_ns);
    if (!o.advanced || stop_.load(std::memory_order_relaxed)) return moved;
    if (is_attended()) return moved;
  }
}

void event_thread::call_spare_if_busy() noexcept {
  const auto now = core_.clock.now_ns();
  if (now - moved_ns_ < lasting_ns) core_.spare.call(now);
  moved_ns_ = now;
}

}  // namespace headway::progress
