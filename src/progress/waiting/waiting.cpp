#include "progress/waiting/waiting.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "progress/waiting/spin_length.hpp"

namespace headway::progress {
namespace {

constexpr std::uint64_t forever = UINT64_MAX;
using base::us;

// most answers that come at all without a wake-up have come by then
constexpr std::uint64_t deferred_after_ns = 5 * us;
constexpr std::uint64_t worth_boosting_ns = 10 * us;  // a boost and its end take 1 us
constexpr std::uint32_t rounds_before_relax = 100;
constexpr std::uint32_t rounds_before_yield = 64;  // one to two microseconds
constexpr std::uint32_t clock_period_spinning = 32, clock_period_yielding = 4;  // rounds

}  // namespace

/// `note_several_wait` uses the time of `look_at_clock`, whose first read begins the measured wait:
/// a thread that had to sleep first spins briefly afterwards. A clock read of its own instead made
/// one to 64 threads take 3.2 to 4.7 us where they take 2.7 to 3.3 (one_to_n).
bool waiting::run(outcome first) noexcept {
  // The kernel's time limits refer to the machine's clock: a wait on another clock must never
  // sleep.
  HEADWAY_ASSERT(!core_.clock.is_virtual() || core_.chosen.waits == waiting_policy::busy);
  for (auto how = first;; how = outcome::retry) {
    if (how == outcome::retry) {
      if (core_.wait_leader.try_lock(me_.next_ticket())) how = poll_as_leader();
      else how = follow();
    }
    if (how == outcome::woke_others) {
      core_.load.note_several_wait(look_at_clock());
      if (has_free_processor() && core_.load.may_watch()) {  // the woken thread has another one
        me_.pay_wake_ups();
        how = outcome::retry;
      } else if (me_.owed_count == 0 && try_to_keep_processor()) {
        woke_while_keeping_ = true;
        how = outcome::retry;
        continue;
      }
    }
    if (how == outcome::spun_enough || how == outcome::woke_others) how = sleep_on_futex(how);
    if (how == outcome::retry) continue;
    if (followed_since_ns_ != 0) learn_to_follow();
    if (boosted_since_ns_ != 0) keep_boost();
    end_nap_for_the_rest();
    yield_to_woken(core_, me_);
    return how == outcome::complete;
  }
}

/// Another thread polls. Where a processor is free, this thread watches what it waits for, for a
/// while, instead of sleeping: that saves both threads the wake-up, and the wait leader goes on
/// polling.
waiting::outcome waiting::follow() noexcept {
  const auto now = look_at_clock();
  core_.load.note_several_wait(now);
  if (!has_free_processor()) return outcome::spun_enough;
  if (followed_since_ns_ == 0) {
    followed_since_ns_ = now;
    const auto length_ns =
        watch_length_ns(core_.chosen.spin_ns, me_.recent_follow_ns, me_.long_follows);
    watch_until_ns_ = std::min(now + length_ns, deadline_ns_);
  }
  if (now >= watch_until_ns_ || !core_.load.begin_watch()) return outcome::spun_enough;
  auto how = outcome::spun_enough;
  for (std::uint32_t round = 1;; ++round) {
    if (set_.done()) {
      me_.slept_waits = 0;
      how = outcome::complete;
      break;
    }
    if (core_.wait_leader.holder() == 0) {
      how = outcome::retry;
      break;
    }
    if (round % clock_period_spinning == 0 &&
        (looked_ns_ = core_.clock.now_ns()) >= watch_until_ns_)
      break;
    base::relax();
  }
  core_.load.end_watch();
  return how;
}

/// A thread that stays awake while it waits takes its processor from no other.
bool waiting::has_free_processor() const noexcept {
  return core_.chosen.waits != waiting_policy::block && !core_.load.oversubscribed() &&
         core_.processor_to_spare.load(std::memory_order_relaxed);
}

void waiting::learn_to_follow() noexcept {
  auto& recent = me_.recent_follow_ns;
  looked_ns_ = core_.clock.now_ns();
  const auto took = looked_ns_ - followed_since_ns_;
  recent -= recent / 8;
  recent += std::min(took, 2 * watched_through_ns(core_.chosen.spin_ns)) / 8;
}

/// Called by the wait leader, which then no longer leads.
waiting::outcome waiting::poll_as_leader() noexcept {
  core_.quiet.attend(me_);
  auto how = spin(budget_ns(core_.load.more_ranks_than_processors()));
  count_vain(how);
  if (how != outcome::spun_enough) learn(0);
  const bool sleeps = how == outcome::spun_enough && become_kernel_sleeper(how);
  core_.wait_leader.unlock();
  if (how == outcome::woke_others) engine_counters::count(core_.counted.hand_overs);
  if (how == outcome::complete) me_.slept_waits = 0;
  // After the unlock, because the woken thread may lead.
  if (how != outcome::woke_others || !me_.answers_in_turns()) core_.pay_wake_ups(me_);
  return sleeps ? sleep_on_events() : how;
}

waiting::outcome waiting::spin(std::uint64_t budget) noexcept {
  me_.spins_for = set_.only();
  const auto how = poll_for(budget);
  me_.spins_for = nullptr;
  return how;
}

waiting::outcome waiting::poll_for(std::uint64_t budget) noexcept {
  // If the job's own ranks share the processors, the sender of the message needs this one. If other
  // threads do, a policy that does not sleep yields too, but not at once.
  const bool ranks = core_.load.more_ranks_than_processors();
  const bool yields =
      ranks || (core_.load.oversubscribed() && core_.chosen.waits != waiting_policy::adaptive);
  const std::uint32_t patience = ranks ? me_.patience.rounds() : rounds_before_yield;
  // Short slices alone do not help a running thread, and the request would cost it its turn.
  const bool heavy = wants_weight();
  if (heavy && recent_ns() >= worth_boosting_ns) boost();
  std::uint64_t idle_since_ns = 0;
  std::uint32_t until_yield = patience, moved_at = 0;  // rounds
  bool patient = ranks && patience != 0;               // and has not yielded yet
  patience_timer timer(patience);
  moved_ = false;
  if (budget != 0 && woken_threads.load(std::memory_order_relaxed) > 0)
    static_cast<void>(try_to_keep_processor());
  if (patience == 0 && budget != 0) yield_to_others();  // the wait has looked once already
  if (patient) timer.after(0, core_.clock, me_.patience);
  for (std::uint32_t round = 1;; ++round) {
    const bool everywhere = budget == 0 || me_.rounds++ % sweep_period == 0;
    const auto o = core_.round(me_, round_kind::explicit_, everywhere);
    if (set_.done()) {
      if (patient) me_.patience.learn(true);
      if (keeps_for_ != 0) core_.pairs.answered();
      return outcome::complete;
    }
    if (me_.owed_count != 0 && (budget == 0 || !try_to_keep_processor())) {
      me_.idle_rounds = moved_ ? 0 : round - 1;
      return outcome::woke_others;
    }
    if (keeps_for_ != 0 && count_kept_round()) return outcome::woke_others;
    if (budget == 0 && !o.advanced) return outcome::spun_enough;
    moved_ = moved_ || o.advanced;
    if (o.advanced) {  // more of it may follow: stay awake
      idle_since_ns = 0;
      moved_at = round;
      if (patient) until_yield = patience;
      end_idle_stretch();
    }
    if (until_yield > 0) --until_yield;
    if (patient && !moved_) {
      timer.after(round, core_.clock, me_.patience);
      if (round >= me_.patience.patient_rounds()) until_yield = 0;
    }
    const bool impatient = yields && until_yield == 0;
    const auto clock_period = impatient ? clock_period_yielding : clock_period_spinning;
    // A round that moves part of a large message takes as long as many that find nothing.
    if (round % clock_period == 0 || (heavy && o.advanced)) {
      const auto now = look_at_clock();
      core_.quiet.attend_ahead(me_);
      if (now >= deadline_ns_) return outcome::timed_out;
      if (now - first_looked_ns_ >= deferred_after_ns) core_.deferred.run();
      if (idle_since_ns == 0) idle_since_ns = now;
      if (!o.advanced && now - idle_since_ns >= budget) return outcome::spun_enough;
      if (heavy && now - began_ns_ >= worth_boosting_ns) boost();
    }
    if ((keeps_for_ == 0 && is_in_the_way(round - moved_at)) || impatient) {
      if (impatient && std::exchange(patient, false)) me_.patience.learn(false);
      if (impatient) yield_to_others();
      else give_way();
    } else if (round >= rounds_before_relax) {
      base::relax();
    }
  }
}

/// True: this thread keeps its processor for a while, although threads of its process that were
/// woken want it (coscheduling.hpp). Granted once in a wait.
bool waiting::try_to_keep_processor() noexcept {
  if (keeps_for_ != 0) return true;
  if (asked_to_keep_ || core_.chosen.waits == waiting_policy::block ||
      core_.load.more_ranks_than_processors() || has_free_processor())
    return false;
  asked_to_keep_ = true;
  keeps_for_ = kept_for_ = core_.pairs.rounds(me_.awake_waits == 0);
  return keeps_for_ != 0;
}

/// After a round of a thread that keeps its processor. True: it gives way to those it has woken.
bool waiting::count_kept_round() noexcept {
  if (me_.owed_count != 0) {
    core_.pairs.woke(me_.owed_count);
    core_.pay_wake_ups(me_);
    woke_while_keeping_ = true;
  }
  if (--keeps_for_ != 0) return false;
  core_.pairs.waited_in_vain(kept_for_);
  return std::exchange(woke_while_keeping_, false);
}

void waiting::give_way() noexcept {
  gave_way_ = true;
  sched_yield();
}

/// Such a wait does not count as a brief one, although it may end before it reads the clock.
void waiting::yield_to_others() noexcept {
  recent_ns() = std::max(recent_ns(), 2 * brief_ns);
  give_way();
}

std::uint64_t waiting::budget_ns(bool yields) const noexcept {
  const auto setting = setting_ns(yields);
  switch (core_.chosen.waits) {
    case waiting_policy::busy:
      return forever;
    case waiting_policy::block:
      return 0;
    case waiting_policy::fixed:
      return setting;
    case waiting_policy::adaptive:
      break;
  }
  const spin_situation now{.setting_ns = setting,
                           .recent_ns = recent_ns(),
                           .yields = yields,
                           .oversubscribed_by_others = core_.load.oversubscribed_by_others(),
                           .one_waiter = core_.one_waiter.load(std::memory_order_relaxed)};
  const auto usual = adaptive_spin_ns(now, me_.brief_waits);
  return core_.one_waits_in_turns() ? spin_in_turn_ns(me_.vain_spins, usual) : usual;
}

std::uint64_t waiting::look_at_clock() noexcept {
  const auto now = core_.clock.now_ns();
  if (began_ns_ == 0) began_ns_ = now;
  if (first_looked_ns_ == 0) first_looked_ns_ = now;
  looked_ns_ = now;
  core_.regular.run_if_due(now);
  core_.load.check_delay(me_, now);
  return now;
}

/// Waits for one message and waits for the first of several take different times.
std::uint64_t& waiting::recent_ns() const noexcept {
  return me_.recent_wait_ns[set_.only() ? 0 : 1];
}

bool waiting::wants_weight() const noexcept {
  return core_.may_have_weight() && core_.one_waits_among_computing_threads();
}

void waiting::boost() noexcept {
  if (boost_.asked() || !core_.load.oversubscribed_by_others()) return;
  const bool weight = wants_weight();
  if (boost_.ask(weight) && weight) boosted_since_ns_ = core_.clock.now_ns();
}

/// This thread does not poll any more: if something is pending, the event thread has to.
void waiting::end_nap_for_the_rest() noexcept {
  if (core_.nap.relies_on_waiting_thread() && core_.work.balance() != 0) core_.nap.end();
}

/// Of a spin that has just ended.
void waiting::count_vain(outcome how) noexcept {
  me_.vain_spins = how == outcome::spun_enough && !moved_ ? me_.vain_spins + 1 : 0;
}

/// This wait came soon after the last one with weight, so the next may come soon, too.
void waiting::keep_boost() noexcept {
  constexpr std::uint64_t soon_ns = 100 * us;
  const auto now = core_.clock.now_ns();
  const bool soon = boosted_since_ns_ - me_.boost_ended_ns < soon_ns;
  me_.boost_ended_ns = now;
  if (soon && core_.boosted.keep(me_.in_kernel, base::thread_of(me_.ticket), now))
    core_.quiet.tell_of_boost();
}

/// A wait leader whose own messages come in close succession never sleeps; the threads that it woke
/// may need its processor for all that time, a whole turn of the scheduler.
void waiting::yield_to_woken(engine_core& core, thread_record& me) noexcept {
  if (woken_threads.load(std::memory_order_relaxed) <= 0 || ++me.awake_waits < core.pairs.turn())
    return;
  me.awake_waits = 0;
  sched_yield();
}

/// Adds to the moving estimate the time for which the wait leader spun, or would have had to spin,
/// until something came for any thread; its own wait may be many times as long if many threads
/// wait, or if a large message comes in parts. The wake-up itself is not included. A sample is
/// bounded, so that one long wait does not affect hundreds of short ones.
void waiting::learn(std::uint64_t woken_in_ns) noexcept {
  auto& recent = recent_ns();
  recent -= recent / 8;
  end_idle_stretch(woken_in_ns);
  if (longest_idle_ns_ == 0) return;  // it ended before the first clock read
  const bool yields = core_.load.more_ranks_than_processors();
  const auto most = spun_through_ns(setting_ns(yields), yields);
  recent += std::min(std::exchange(longest_idle_ns_, 0u), 4 * most) / 8;
}

void waiting::end_idle_stretch(std::uint64_t woken_in_ns) noexcept {
  if (began_ns_ == 0) return;
  const auto took = core_.clock.now_ns() - began_ns_;
  longest_idle_ns_ = std::max(longest_idle_ns_, took - std::min(took, woken_in_ns));
  began_ns_ = 0;
}

}  // namespace headway::progress
