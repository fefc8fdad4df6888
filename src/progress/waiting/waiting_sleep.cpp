// How a wait sleeps: the functions of `waiting` that follow a spin in vain.
#include <sched.h>

#include <algorithm>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/futex.hpp"
#include "progress/core/events.hpp"
#include "progress/core/meter.hpp"
#include "progress/waiting/sleep_signs.hpp"
#include "progress/waiting/spin_length.hpp"
#include "progress/waiting/waiting.hpp"

namespace headway::progress {
namespace {

using base::us;

constexpr std::uint64_t leave_ns = 25 * us;  // for the event thread to leave its kernel sleep, …
constexpr int leave_tries = 8;               // … so many times
constexpr int yields_in_vain = 4;
constexpr std::uint64_t nap_ns = 1'000 * us;  // of all sleepers together, without event thread

/// Adds the length of a block to a sum while a tool observes the sleeps of waits.
class sleep_time {
 public:
  explicit sleep_time(std::uint64_t& sum_ns) noexcept
      : sum_ns_(sum_ns), began_ns_(events::wait_slept.observed() ? base::machine_now_ns() : 0) {}
  ~sleep_time() {
    if (began_ns_ != 0) sum_ns_ += base::machine_now_ns() - began_ns_;
  }
  sleep_time(const sleep_time&) = delete;
  sleep_time& operator=(const sleep_time&) = delete;

 private:
  std::uint64_t& sum_ns_;
  std::uint64_t began_ns_;
};

/// Called where this thread is in no list of sleepers and leads no other: an observer may call MPI.
void note_slept(std::uint64_t sum_ns) noexcept {
  if (sum_ns != 0) events::wait_slept.raise({sum_ns});
}

}  // namespace

/// Called by the wait leader. False: another thread sleeps there or is about to, or (`how` changed)
/// there is no need any more.
bool waiting::become_kernel_sleeper(outcome& how) noexcept {
  auto& sleeper = *core_.sleeper;
  if (sleeper.try_take(kernel_sleeper::holder::application)) return true;
  if (sleeper.held_by() == kernel_sleeper::holder::application) return false;
  if (core_.quiet.may_sleep_beside()) return beside_ = sleeper.try_take_beside();
  // The event thread sleeps there. If it stayed, a message would wake it, and it would wake this
  // thread: two wake-ups. So it is asked to leave while this thread waits anyway.
  sleeper.set_wanted(true);
  sleeper.kick_sleeper();
  bool taken = false;
  for (int i = 0; i < leave_tries && how == outcome::spun_enough && !taken; ++i) {
    how = spin(leave_ns);
    taken = how == outcome::spun_enough && sleeper.try_take(kernel_sleeper::holder::application);
  }
  sleeper.set_wanted(false);
  return taken;
}

/// Called by the kernel sleeper, which then no longer is one.
waiting::outcome waiting::sleep_on_events() noexcept {
  auto how = outcome::retry;
  bool learnt = false;
  int in_vain = 0;
  std::uint64_t slept_ns = 0, slept_since_ns = 0;
  gave_way_ = true;
  core_.deferred.run();
  auto& sleeper = *core_.sleeper;
  if (beside_) {
    core_.quiet.attend_ahead(me_);
    core_.work.started();  // as in sleep_on_futex
    core_.quiet.rely_beside();
  }
  me_.self.sleeps_at.store(beside_ ? &sleeper.place_beside() : &sleeper.place(),
                           std::memory_order_relaxed);
  for (bool open = set_.enlist(me_.self); open && may_sleep_on_events();) {
    if (!beside_) core_.quiet.stop_attending(me_);
    if (me_.self.word.begin_sleep(sleep_state::in_kernel)) {
      slept_since_ns = look_at_clock();
      engine_counters::count(core_.counted.kernel_sleeps);
      boost();
      const stretch timed(me_.measured, "sleep on events", &meter::sleeps, &meter::slept_ns);
      const sleep_time observed(slept_ns);
      const shown_sleep shown;
      const bool slept =
          beside_ ? sleep_beside()
                  : sleeper.sleep(std::min(deadline_ns_, slept_since_ns + ticks::period_ns),
                                  wake_for::all, [this] { return core_.queues.has_submissions(); });
      in_vain = slept ? 0 : in_vain + 1;
      me_.self.word.end_sleep();
      if (!std::exchange(learnt, true)) learn(core_.nap.wake_ns());
    }
    if (!core_.wait_leader.try_lock(me_.next_ticket()))
      break;  // another thread polls awake: sleep on the futex
    if (beside_) core_.quiet.attend_ahead(me_);
    how = spin(0);
    if (moved_) {
      in_vain = 0;
      if (how == outcome::spun_enough) how = spin(budget_after_sleep_ns(slept_since_ns));
      count_vain(how);
    }
    core_.wait_leader.unlock();
    me_.pay_wake_ups();
    if (how == outcome::complete) break;
    // A source that another thread serves makes a sleep impossible; that thread may need this
    // processor.
    if (in_vain != 0) in_vain <= yields_in_vain ? static_cast<void>(sched_yield()) : base::nap();
    if (look_at_clock() >= deadline_ns_) {
      how = outcome::timed_out;
      break;
    }
  }
  set_.leave(me_.self);
  if (beside_) {
    sleeper.release_beside();
    core_.quiet.rely_no_more();
    core_.work.ended();
    beside_ = false;
  } else {
    sleeper.release();
    core_.quiet.tell();
  }
  note_slept(slept_ns);
  if (set_.done()) return outcome::complete;
  return how == outcome::timed_out ? how : outcome::spun_enough;
}

/// Not beside an event thread that has been stopped: nothing arms the sources for it any more.
/// Relaxed: a later stop is followed by `signal_all` (polling_points.cpp), which `begin_sleep`
/// finds, or which ends the sleep. A thread that has used that up sees the stop: (G).
bool waiting::may_sleep_on_events() const noexcept {
  return !beside_ || core_.watched.load(std::memory_order_relaxed);
}

/// The event thread ticks meanwhile.
bool waiting::sleep_beside() noexcept {
  if (!core_.quiet.stop_attending_to_sleep(me_)) return false;
  core_.sleeper->sleep_beside(deadline_ns_);
  return true;
}

waiting::outcome waiting::sleep_on_futex(outcome why) noexcept {
  auto how = outcome::retry;
  std::uint64_t slept_ns = 0;
  ++me_.slept_waits;
  me_.awake_waits = 0;
  keeps_for_ = 0;
  gave_way_ = true;
  core_.deferred.run();
  core_.quiet.stop_attending(me_);
  core_.work.started();  // a sleeper counts as pending, because its message must be polled for
  core_.quiet.rely();
  end_nap_for_the_rest();
  for (bool open = set_.enlist(me_.self); open;) {
    // A thread that stopped leading because it woke another one does not lead again. Any other
    // thread looks once more.
    if (why == outcome::spun_enough && core_.wait_leader.holder() == 0 &&
        core_.sleeper->held_by() == kernel_sleeper::holder::nobody)
      break;
    if (me_.self.word.begin_sleep(sleep_state::on_futex)) {
      const bool makes_way = make_way();
      auto until = deadline_ns_;
      const bool naps = !core_.watched.load(std::memory_order_relaxed);
      if (naps) until = std::min(until, look_at_clock() + nap_ns * core_.work.balance());
      engine_counters::count(core_.counted.sleeps);
      if (!makes_way && !own_threads_compete()) boost();
      const stretch timed(me_.measured, "sleep", &meter::sleeps, &meter::slept_ns);
      const sleep_time observed(slept_ns);
      const shown_sleep shown;
      base::futex_wait(me_.self.word.futex_word(),
                       static_cast<std::uint32_t>(sleep_state::on_futex), until);
      if (me_.self.word.end_sleep() == sleep_state::signalled)
        woken_threads.fetch_sub(1, std::memory_order_relaxed);
      if (naps) why = outcome::spun_enough;
    }
    if (set_.done()) break;
    if (deadline_ns_ != base::no_deadline && look_at_clock() >= deadline_ns_) {
      how = outcome::timed_out;
      break;
    }
  }
  me_.pay_wake_ups();  // if a signal has kept this thread from sleeping
  set_.leave(me_.self);
  core_.quiet.rely_no_more();
  core_.work.ended();
  note_slept(slept_ns);
  return set_.done() ? outcome::complete : how;
}

/// Makes the wake-up that this thread still owes, if any. Called when this thread counts as asleep:
/// the woken thread often takes this processor at once, before the system call returns. As wait
/// leader it may then complete what this thread waits for, and must find that it sleeps: otherwise
/// it would go on polling on the processor that this thread needs. The futex compares its word, so
/// a signal that comes before `futex_wait` is not lost. True: this thread gives its processor to
/// the woken one, and needs no boost: two changes of its treatment would take longer than a
/// message.
bool waiting::make_way() noexcept {
  const bool owes = me_.owed_count != 0;
  me_.pay_wake_ups();
  return owes;
}

/// Several threads of this process have been woken and have not run yet. A short slice would only
/// give this thread an advantage over those, and the two system calls take longer than a context
/// switch. Relaxed: a hint.
bool waiting::own_threads_compete() noexcept {
  constexpr int compete_min = 3;  // one is the thread that this one has just woken
  return woken_threads.load(std::memory_order_relaxed) >= compete_min;
}

/// After a sleep on the events that has not ended the wait.
std::uint64_t waiting::budget_after_sleep_ns(std::uint64_t slept_since_ns) noexcept {
  const bool yields = core_.load.more_ranks_than_processors();
  const auto usual = budget_ns(yields);
  if (core_.chosen.waits != waiting_policy::adaptive) return usual;
  const spin_situation now{.setting_ns = setting_ns(yields),
                           .yields = yields,
                           .oversubscribed_by_others = core_.load.oversubscribed_by_others()};
  return spin_after_sleep_ns(now, look_at_clock() - slept_since_ns, usual);
}

}  // namespace headway::progress
