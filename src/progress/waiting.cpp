#include "progress/waiting.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/futex.hpp"
#include "progress/spin_length.hpp"
#include "progress/tunables.hpp"

namespace headway::progress {
namespace {

constexpr std::uint64_t forever = UINT64_MAX;
constexpr std::uint64_t us = 1'000;

constexpr std::uint64_t make_room_ns = 25 * us;  // for the event thread to leave the guard, …
constexpr int make_room_tries = 8;               // … so many times
constexpr int yields_in_vain = 4;
constexpr std::uint64_t worth_asking_ns = 10 * us;  // to ask the kernel and to take it back: 1 us
constexpr std::uint64_t nap_ns = 1'000 * us;  // of all sleepers together, without event thread
constexpr std::uint32_t rounds_before_relax = 100;
constexpr std::uint32_t rounds_before_yield = 64;  // one to two microseconds
constexpr std::uint32_t clock_period_spinning = 32, clock_period_yielding = 4;  // rounds

std::uint64_t tunable_ns(const base::number_tunable& t) {
  return static_cast<std::uint64_t>(t.get()) * us;
}

}  // namespace

bool waiting::run(outcome first) noexcept {
  for (auto how = first;; how = outcome::relieved) {
    if (how == outcome::relieved) {
      if (core_.lead.try_lock(me_.next_ticket())) {
        how = lead();
      } else {
        how = outcome::exhausted;
        note_company();
      }
    }
    if (how == outcome::woke_others) note_company();
    if (how == outcome::exhausted || how == outcome::woke_others) how = follow(how);
    if (how == outcome::relieved) continue;
    if (has_weight_since_ns_ != 0) keep_weight();
    be_fair(me_);
    return how == outcome::complete;
  }
}

/// Entered with the lead; left without.
waiting::outcome waiting::lead() noexcept {
  auto how = spin(budget_ns(core_.outnumbered.load(std::memory_order_relaxed)));
  if (how != outcome::exhausted) learn(0);
  const bool guards = how == outcome::exhausted && become_guard(how);
  core_.lead.unlock();
  if (how == outcome::woke_others) core_.count(core_.counted.hand_overs);
  me_.pay_wake_ups();  // the lead is vacant by now: whoever wakes may take it
  return guards ? stand_guard() : how;
}

waiting::outcome waiting::spin(std::uint64_t budget) noexcept {
  me_.spins_for = set_.only();
  const auto how = poll_for(budget);
  me_.spins_for = nullptr;
  return how;
}

waiting::outcome waiting::poll_for(std::uint64_t budget) noexcept {
  // The job's own ranks share the processors: the message that we wait for needs this one. In a
  // crowd of others who is to spin yields too, if he was told not to sleep, though not at once.
  const bool ranks = core_.outnumbered.load(std::memory_order_relaxed);
  const bool yields = ranks || (core_.crowded.load(std::memory_order_relaxed) &&
                                core_.options.waits != waiting_policy::adaptive);
  const std::uint32_t first_yield = ranks ? 1 : rounds_before_yield;
  const auto clock_period = yields ? clock_period_yielding : clock_period_spinning;
  // Of slices alone who runs has nothing yet, and asking would cost it its turn.
  const bool heavy = wants_weight();
  if (heavy && recent_ns() >= worth_asking_ns) be_preferred();
  std::uint64_t idle_since_ns = 0;
  moved_ = false;
  for (std::uint32_t round = 1;; ++round) {
    const bool everywhere = budget == 0 || me_.rounds++ % sweep_period == 0;
    const auto o = core_.round(me_, round_kind::explicit_, everywhere);
    if (set_.done()) return outcome::complete;
    if (me_.owed_count) return outcome::woke_others;
    if (budget == 0 && !o.advanced) return outcome::exhausted;
    moved_ = moved_ || o.advanced;
    if (o.advanced) {  // what is on its way is worth staying awake for
      idle_since_ns = 0;
      end_idle_stretch();
    }
    // A round that moves part of a large message takes as long as many that find nothing.
    if (round % clock_period == 0 || (heavy && o.advanced)) {
      const auto now = look_at_clock();
      if (now >= deadline_ns_) return outcome::timed_out;
      if (idle_since_ns == 0) idle_since_ns = now;
      if (!o.advanced && now - idle_since_ns >= budget) return outcome::exhausted;
      if (heavy && now - began_ns_ >= worth_asking_ns) be_preferred();
    }
    const bool in_the_way = roused_threads.load(std::memory_order_relaxed) > 0;
    if (in_the_way || (yields && round >= first_yield)) sched_yield();
    else if (round >= rounds_before_relax) base::relax();
  }
}

/// Holds the lead. False: somebody else guards, or (`how` changed) it is not needed any more.
bool waiting::become_guard(outcome& how) noexcept {
  auto& sentry = *core_.sentry;
  if (sentry.try_take(guard::holder::application)) return true;
  if (sentry.held_by() == guard::holder::application) return false;
  // The event thread sleeps there. Were it left there, a message would wake it, and it us: two
  // wake-ups. So it is sent away now, while we wait anyway.
  sentry.wish(true);
  sentry.kick_sleeper();
  bool taken = false;
  for (int i = 0; i < make_room_tries && how == outcome::exhausted && !taken; ++i) {
    how = spin(make_room_ns);
    taken = how == outcome::exhausted && sentry.try_take(guard::holder::application);
  }
  sentry.wish(false);
  return taken;
}

/// Entered with the guard; left without.
waiting::outcome waiting::stand_guard() noexcept {
  auto how = outcome::relieved;
  bool learnt = false;
  int in_vain = 0;
  me_.self.where.store(core_.sentry.get(), std::memory_order_relaxed);
  for (bool open = set_.enlist(me_.self); open;) {
    if (me_.self.word.lie_down(rest::on_guard)) {
      const auto tick_ns = look_at_clock() + ticks::period_ns;
      core_.count(core_.counted.guard_sleeps);
      be_preferred();
      const stretch timed(me_.measured, "sleep on events", &meter::sleeps, &meter::slept_ns);
      const bool slept = core_.sentry->sleep(std::min(deadline_ns_, tick_ns),
                                             [this] { return core_.queues.has_submissions(); });
      in_vain = slept ? 0 : in_vain + 1;
      me_.self.word.get_up();
      if (!std::exchange(learnt, true)) learn(core_.wake_ns.load(std::memory_order_relaxed));
    }
    if (!core_.lead.try_lock(me_.next_ticket())) break;  // somebody polls awake: be a follower
    how = spin(0);
    if (moved_) in_vain = 0;
    core_.lead.unlock();
    me_.pay_wake_ups();
    if (how == outcome::complete) break;
    // A source that somebody is at work on does not let us sleep, and he may need this processor.
    if (in_vain != 0) in_vain <= yields_in_vain ? static_cast<void>(sched_yield()) : base::nap();
    if (look_at_clock() >= deadline_ns_) {
      how = outcome::timed_out;
      break;
    }
  }
  set_.leave(me_.self);
  core_.sentry->release();
  core_.tell_background();
  if (set_.done()) return outcome::complete;
  return how == outcome::timed_out ? how : outcome::exhausted;
}

bool waiting::must_nap() const noexcept { return !core_.watched.load(std::memory_order_relaxed); }

waiting::outcome waiting::follow(outcome why) noexcept {
  auto how = outcome::relieved;
  core_.work.started();  // a sleeper is something pending: its message must be polled for
  core_.tell_background();
  for (bool open = set_.enlist(me_.self); open;) {
    // Who gave the lead up for one whom it woke stays out of his way; all others look once more.
    if (why == outcome::exhausted && core_.lead.holder() == 0 &&
        core_.sentry->held_by() == guard::holder::nobody)
      break;
    if (me_.self.word.lie_down(rest::on_futex)) {
      auto until = deadline_ns_;
      const bool naps = must_nap();
      if (naps) until = std::min(until, look_at_clock() + nap_ns * core_.work.balance());
      core_.count(core_.counted.sleeps);
      be_preferred();
      const stretch timed(me_.measured, "sleep", &meter::sleeps, &meter::slept_ns);
      base::futex_wait(me_.self.word.futex_word(), static_cast<std::uint32_t>(rest::on_futex),
                       until);
      if (me_.self.word.get_up() == rest::signalled)
        roused_threads.fetch_sub(1, std::memory_order_relaxed);
      if (naps) why = outcome::exhausted;
    }
    if (set_.done()) break;
    if (deadline_ns_ != forever && look_at_clock() >= deadline_ns_) {
      how = outcome::timed_out;
      break;
    }
  }
  set_.leave(me_.self);
  core_.work.ended();
  return set_.done() ? outcome::complete : how;
}

std::uint64_t waiting::budget_ns(bool yields) const noexcept {
  const auto longest = tunable_ns(yields ? yield_us : spin_us);
  switch (core_.options.waits) {
    case waiting_policy::busy:
      return forever;
    case waiting_policy::block:
      return 0;
    case waiting_policy::fixed:
      return longest;
    case waiting_policy::adaptive:
      break;
  }
  return adaptive_spin_ns({.longest_ns = longest,
                           .recent_ns = recent_ns(),
                           .yields = yields,
                           .crowd_of_others = crowd_of_others()},
                          me_.brief_waits);
}

std::uint64_t waiting::look_at_clock() noexcept {
  const auto now = base::now_ns();
  if (began_ns_ == 0) began_ns_ = now;
  core_.every_100_ms.run_if_due(now);
  core_.mind_delay(me_, now);
  return now;
}

/// A wait for one message and one for whichever of many comes first take different times.
std::uint64_t& waiting::recent_ns() const noexcept {
  return me_.recent_wait_ns[set_.only() ? 0 : 1];
}

/// More threads than processors, and they are not our own ranks.
bool waiting::crowd_of_others() const noexcept {
  return core_.crowded.load(std::memory_order_relaxed) &&
         !core_.outnumbered.load(std::memory_order_relaxed);
}

/// Alone among computing threads.
bool waiting::wants_weight() const noexcept {
  return core_.options.greatest_weight && standing::may_have_weight() && crowd_of_others() &&
         base::now_ns() >= core_.several_wait_until_ns.load(std::memory_order_relaxed);
}

void waiting::be_preferred() noexcept {
  if (preferred_.asked() || !crowd_of_others()) return;
  const bool weight = wants_weight();
  if (preferred_.ask(weight) && weight) has_weight_since_ns_ = base::now_ns();
}

/// Soon after the last such wait there was this one, so there may be another one soon.
void waiting::keep_weight() noexcept {
  constexpr std::uint64_t soon_ns = 100 * us;
  const auto now = base::now_ns();
  const bool soon = has_weight_since_ns_ - me_.had_weight_ns < soon_ns;
  me_.had_weight_ns = now;
  if (soon && core_.kept.keep(me_.in_kernel, base::thread_of(me_.ticket), now)) core_.tell_keeper();
}

/// Remembered for a while, and not written by every thread each time. The look begins the wait that
/// is measured: who had to follow first spins briefly afterwards. By `base::now_ns` instead, one to
/// 64 threads took 3.2 to 4.7 us where it takes 2.7 to 3.3 (one_to_n, six rounds in turns).
void waiting::note_company() noexcept {
  constexpr std::uint64_t lasts_ns = 300'000'000;
  const auto now = look_at_clock();
  if (core_.several_wait_until_ns.load(std::memory_order_relaxed) < now + lasts_ns / 2)
    core_.several_wait_until_ns.store(now + lasts_ns, std::memory_order_relaxed);
}

/// A leader whose own messages come one after another never sleeps, and those whom it woke may need
/// its processor all the while, a whole turn of the scheduler.
void waiting::be_fair(thread_record& me) noexcept {
  constexpr std::uint32_t favours_max = 16;
  if (roused_threads.load(std::memory_order_relaxed) <= 0 || ++me.favours < favours_max) return;
  me.favours = 0;
  sched_yield();
}

/// How long the leader spun, or would have had to, until something came for anybody: its own wait
/// may be many times as long where many wait, or where a large message comes in parts. The way out
/// of a sleep would be no part of it. One long wait must not be remembered for hundreds of short
/// ones, so a sample is bounded.
void waiting::learn(std::uint64_t woken_in_ns) noexcept {
  auto& recent = recent_ns();
  recent -= recent / 8;
  end_idle_stretch(woken_in_ns);
  if (longest_idle_ns_ == 0) return;  // it ended before the first look at the clock
  const auto longest =
      tunable_ns(core_.outnumbered.load(std::memory_order_relaxed) ? yield_us : spin_us);
  recent += std::min(std::exchange(longest_idle_ns_, 0u), 8 * longest) / 8;
}

void waiting::end_idle_stretch(std::uint64_t woken_in_ns) noexcept {
  if (began_ns_ == 0) return;
  const auto took = base::now_ns() - began_ns_;
  longest_idle_ns_ = std::max(longest_idle_ns_, took - std::min(took, woken_in_ns));
  began_ns_ = 0;
}

}  // namespace headway::progress
