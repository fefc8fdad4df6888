#include "progress/event_thread.hpp"

#include <sched.h>

#include <algorithm>

#include "base/beside.hpp"
#include "base/clock.hpp"
#include "base/futex.hpp"
#include "base/log.hpp"
#include "progress/scheduling.hpp"
#include "progress/tunables.hpp"

namespace headway::progress {
namespace {

constexpr std::uint64_t us = 1'000;
constexpr std::uint64_t first_pause_ns = 50 * us;
constexpr std::uint64_t longest_pause_ns = 1'000 * us;
constexpr std::uint64_t longest_pause_vacant_ns = 250 * us;     // sleepers may have nobody but us
constexpr std::uint64_t longest_pause_crowded_ns = 4'000 * us;  // 16 ranks look 16 times
constexpr std::uint64_t taken_pause_ns = 20 * us;
// What starts so long after everything was over is one phase of communication among computing, not
// the next message of a sequence.
constexpr std::uint64_t long_rest_ns = 200 * us;
// In a crowd a thread that wakes us loses its processor to us, and may be long in getting it back;
// and where wake-ups are in vain, all over before we look, each is a loss: we rest there when it is
// quiet for good.
constexpr int idle_looks_before_rest = 3;
constexpr int vain_wake_ups = 2;

constexpr std::uint64_t longest_pause_spare_ns = 200 * us;  // its poller may lose the processor
constexpr std::uint64_t lasting_ns = 2'000 * us;            // events this near are a sequence
constexpr std::uint64_t budget_window_ns = 100'000 * us, budget_ns = 20'000 * us;

}  // namespace

event_thread::event_thread(engine_core& core) : core_(core), pause_ns_(first_pause_ns) {
  thread_ = start_thread({"hw-event", usable_processors(core.machine)}, [this] { run(); });
  core_.watched.store(true, std::memory_order_relaxed);
}

event_thread::~event_thread() {
  core_.watched.store(false, std::memory_order_relaxed);
  stop_.store(1, std::memory_order_seq_cst);  // pairs with the loads in sleep_quietly and watch
  core_.open_quiet();
  core_.sentry->kick();
  core_.rouse_event_thread();
  thread_.join();
  core_.kept.keeper_goes();
}

void event_thread::run() noexcept {
  ask_exact_sleeps();
  base::run_beside_computing();
  take_class();
  core_.kept.keeper_comes();
  auto& me = this_thread();
  while (!stop_.load(std::memory_order_relaxed)) {
    if (!idle_ || !rest()) doze();
    if (look() == finding::unattended) watch(me);
  }
}

/// True: it was long, the machine is not crowded, and what has begun is to be guarded at once. To
/// wait and see whether somebody polls would take a timer, and where a hypervisor sets that, it
/// costs five times what a wake-up does (12 us to set, 40 us to go off; bench/timer), taken from
/// the thread that computes.
bool event_thread::rest() noexcept {
  const auto began = base::now_ns();
  // Woken because weight is kept now, or was to be given back, it sleeps on.
  while (core_.sleep_as_keeper(stop_) != core_.kept.look(base::now_ns())) {
  }
  rounds_seen_ = core_.queues.root().explicit_rounds();
  starts_seen_ = core_.work.starts();
  if (base::now_ns() - began < long_rest_ns) {
    was_woken_ = true;
    return false;
  }
  woken_in_vain_ = 0;
  pause_ns_ = first_pause_ns;
  if (is_crowded()) return false;
  core_.count(core_.counted.event_looks);
  return true;
}

/// What waking us takes is learnt here: the sleep has a known end.
void event_thread::doze() noexcept {
  constexpr std::uint64_t longest_sample_ns = 1'000 * us;  // more is a processor that was taken
  const auto due = base::now_ns() + pause_ns_;
  pause(pause_ns_);
  core_.count(core_.counted.event_looks);
  const auto now = base::now_ns();
  static_cast<void>(core_.kept.look(now));
  if (now < due) return;
  const auto took = std::min(now - due, longest_sample_ns);
  const auto before = core_.wake_ns.load(std::memory_order_relaxed);
  core_.wake_ns.store(before - before / 8 + took / 8, std::memory_order_relaxed);
}

void event_thread::pause(std::uint64_t for_ns) noexcept {
  const auto word = core_.nap_word.load(std::memory_order_relaxed);
  // seq_cst: a stop that is not seen here changes the word after it was read.
  if (stop_.load(std::memory_order_seq_cst)) return;
  base::futex_wait(core_.nap_word, word, base::now_ns() + for_ns);
}

void event_thread::take_class() noexcept {
  const int asked = event_class.index();
  real_time_ = asked != 0 && run_in_real_time(asked == 1 ? SCHED_FIFO : SCHED_RR);
  demoted_ = false;
  if (real_time_) return;
  if (asked != 0)
    base::log(base::severity::warning,
              "the kernel does not let the event thread into class '{}': it stays an ordinary one",
              event_class.value_text());
  ask_short_slices();
}

void event_thread::mind_budget(std::uint64_t began_ns) noexcept {
  if (!real_time_) return;
  const auto now = base::now_ns();
  if (now - window_began_ns_ >= budget_window_ns) {
    window_began_ns_ = now;
    window_used_ns_ = 0;
    if (demoted_) take_class();
  }
  window_used_ns_ += now - began_ns;
  if (demoted_ || window_used_ns_ < budget_ns) return;
  demoted_ = true;
  core_.count(core_.counted.demotions);
  ask_short_slices();
}

event_thread::finding event_thread::look() noexcept {
  const auto rounds = core_.queues.root().explicit_rounds();
  const auto starts = core_.work.starts();
  auto found = finding::attended;
  // While messages start one after another, looking costs less than being woken by each.
  const bool nothing = core_.nothing_for_background();
  idle_looks_ = nothing && starts == starts_seen_ ? idle_looks_ + 1 : 0;
  if (nothing && was_woken_) ++woken_in_vain_;
  was_woken_ = false;
  const bool stays_up = is_crowded() || woken_in_vain_ >= vain_wake_ups;
  idle_ = idle_looks_ >= (stays_up ? idle_looks_before_rest : 1);
  if (nothing) {
    found = finding::nothing;
  } else {
    core_.every_100_ms.run_if_due(base::now_ns());
    // The spare poller's rounds are attendance too, as long as it has its processor.
    const bool asked = core_.queues.root().has_submissions();  // and nobody took them up
    if (asked || (rounds == rounds_seen_ && !spare_polls())) found = finding::unattended;
    beats_seen_ = core_.spare.beats.load(std::memory_order_relaxed);
  }
  // Left alone for longer and longer while others poll; back soon when they cease.
  if (found == finding::unattended) {
    woken_in_vain_ = 0;
    pause_ns_ = first_pause_ns;
  } else {
    pause_ns_ = std::min(2 * pause_ns_, longest_pause());
  }
  rounds_seen_ = rounds;
  starts_seen_ = starts;
  return found;
}

/// And has had its processor since the last look.
bool event_thread::spare_polls() const noexcept {
  return core_.spare.polls.load(std::memory_order_relaxed) &&
         core_.spare.beats.load(std::memory_order_relaxed) != beats_seen_;
}

std::uint64_t event_thread::longest_pause() const noexcept {
  if (core_.spare.polls.load(std::memory_order_relaxed)) return longest_pause_spare_ns;
  if (core_.crowded.load(std::memory_order_relaxed)) return longest_pause_crowded_ns;
  if (woken_in_vain_ >= vain_wake_ups) return longest_pause_ns;
  return core_.lead.holder() == 0 ? longest_pause_vacant_ns : longest_pause_ns;
}

void event_thread::watch(thread_record& me) noexcept {
  auto& sentry = *core_.sentry;
  if (!sentry.try_take(guard::holder::background)) return;
  const auto must_leave = [&] {
    return stop_.load(std::memory_order_seq_cst) != 0 || sentry.wished() || spare_polls();
  };
  for (;;) {
    const auto now = base::now_ns();
    const auto until = std::min(now + ticks::period_ns, core_.kept.look(now));
    core_.count(core_.counted.event_sleeps);
    bool slept = false;
    {
      const stretch timed(me.measured, "sleep on events", &meter::sleeps, &meter::slept_ns);
      slept = sentry.sleep(until, [&] { return must_leave() || core_.queues.has_submissions(); });
    }
    core_.every_100_ms.run_if_due(base::now_ns());
    if (must_leave() || core_.queues.root().explicit_rounds() != rounds_seen_) break;
    // A source that somebody is at work on does not let us sleep, and he may need this processor.
    if (!poll_until_idle(me) && !slept) pause(taken_pause_ns);
    if (core_.work.balance() == 0) {
      idle_ = !is_crowded();
      break;
    }
  }
  sentry.release();
}

/// True: something moved.
bool event_thread::poll_until_idle(thread_record& me) noexcept {
  for (bool moved = false;;) {
    const auto began = real_time_ ? base::now_ns() : 0;
    const auto o = core_.round(me, round_kind::background, true);
    me.pay_wake_ups();
    mind_budget(began);
    if (o.advanced && !moved) {
      moved = true;
      call_spare_if_busy();
    }
    // The holder of the mask polls for us, or needs the processor that we run on.
    if (o.met_taken_mask && !o.advanced) pause(taken_pause_ns);
    if (!o.advanced || stop_.load(std::memory_order_relaxed)) return moved;
    if (core_.queues.root().explicit_rounds() != rounds_seen_) return moved;  // attended: hands off
  }
}

void event_thread::call_spare_if_busy() noexcept {
  const auto now = base::now_ns();
  if (now - moved_ns_ < lasting_ns) core_.call_spare(now);
  moved_ns_ = now;
}

}  // namespace headway::progress
