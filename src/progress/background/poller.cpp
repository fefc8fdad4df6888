#include "progress/background/poller.hpp"

#include <sched.h>

#include <algorithm>

#include "base/assert.hpp"
#include "base/futex.hpp"
#include "progress/os/placement.hpp"

namespace headway::progress {
namespace {

constexpr std::uint64_t least_pause_attended_ns = 100'000;
constexpr std::uint64_t longest_pause_attended_ns = 1'000'000;

}  // namespace

poller::poller(engine_core& core, plan how)
    : core_(core),
      plan_(std::move(how)),
      interval_({.longest_ns = plan_.calm_period_ns, .slowdown = plan_.slowdown}) {
  HEADWAY_ASSERT(plan_.slowdown >= 1 && plan_.index < plan_.count);
  at_ = plan_.thread.processors;
  thread_ = start_thread(plan_.thread, [this] { run(); });
}

poller::~poller() {
  stop_.store(1, std::memory_order_seq_cst);  // pairs with the load in quiet_sleep
  core_.quiet.wake_all();
  base::futex_wake(stop_, 1);
  resting_.store(0, std::memory_order_seq_cst);
  base::futex_wake(resting_, 1);
  // At its low priority it might not run for long, and not see the stop. 0: the priority is still
  // normal.
  const auto self = kernel_thread_.load(std::memory_order_seq_cst);
  if (plan_.when_idle && self != 0) lift(self);
  thread_.join();
}

void poller::run() noexcept {
  auto& me = this_thread();
  set_timer_slack(least_timer_slack_ns);
  if (plan_.when_idle) run_when_idle();
  else ask_short_slices();
  kernel_thread_.store(base::thread_of(me.ticket), std::memory_order_seq_cst);
  if (plan_.when_idle) me.ticket |= base::low_priority_bit;
  std::uint64_t rounds_seen = 0, attended_pause = least_pause_attended_ns;
  for (std::uint32_t round = 0; !stop_.load(std::memory_order_relaxed); ++round) {
    if (core_.quiet.nothing_to_do()) {
      core_.quiet.sleep(stop_);
      backoff_.did_something_else();
    }
    if (resting_.load(std::memory_order_relaxed) != 0) {
      rest();
      backoff_.did_something_else();
    }
    const auto rounds = core_.queues.root().explicit_rounds();
    if (rounds != rounds_seen) {
      rounds_seen = rounds;
      engine_counters::count(core_.counted.attended_looks);
      pause(attended_pause);
      backoff_.did_something_else();
      attended_pause = std::min(2 * attended_pause, longest_pause_attended_ns);
      continue;
    }
    attended_pause = least_pause_attended_ns;
    const bool everywhere = sweeps(round);
    const auto o = core_.round(me, round_kind::background, everywhere);
    me.pay_wake_ups();
    if (plan_.when_idle) core_.stalls.regain_low_priority(lifts_seen_, &run_when_idle);
    const auto period = next_period_ns(o.advanced);
    if (o.advanced) {
      backoff_.did_something_else();
      continue;
    }
    pause_after_round(period);
  }
}

/// The timer is one thread, so each of its rounds may visit every queue. Idle pollers climb:
/// together they visit the root as often as one of them visits its leaf (queue_tree.hpp). To keep
/// that on any machine, all of them together sweep once in a number of rounds, in turn, for the
/// ltasks of places without a poller.
bool poller::sweeps(std::uint32_t round) const noexcept {
  constexpr std::uint32_t period = 16;  // rounds of all idle pollers
  return !plan_.when_idle || round % (period * plan_.count) == period * plan_.index;
}

void poller::pause_after_round(std::uint64_t period_ns) noexcept {
  const auto for_ns = plan_.when_idle ? backoff_.pause_ns(period_ns) : period_ns;
  pause(for_ns);
  const auto now = core_.clock.now_ns();
  backoff_.paused(for_ns, now);
  core_.regular.run_if_due(now);
}

void poller::pause(std::uint64_t for_ns) noexcept {
  if (for_ns == 0) sched_yield();
  else base::futex_wait(stop_, 0, core_.clock.now_ns() + for_ns);
}

/// A computing thread is bound to its core, and other cores, with other pollers, are free.
void poller::rest() noexcept {
  engine_counters::count(core_.counted.idle_rests);
  while (resting_.load(std::memory_order_relaxed) != 0 && !stop_.load(std::memory_order_seq_cst))
    base::futex_wait(resting_, 1);
}

/// Nothing is urgent while nothing moves or begins.
std::uint64_t poller::next_period_ns(bool moved) noexcept {
  const auto shortest = std::max(plan_.period_ns, core_.sleeper->shortest_period_ns());
  const auto starts = core_.work.starts();
  const bool urgent = moved || starts != starts_seen_;
  starts_seen_ = starts;
  return interval_.next_ns(urgent, shortest, [this] { return core_.clock.now_ns(); });
}

void poller::avoid(const std::vector<int>& bound) noexcept {
  if (plan_.thread.processors.empty()) return;
  const auto left = free_part(core_.machine, plan_.thread.processors, bound);
  const auto self = kernel_thread_.load(std::memory_order_seq_cst);
  if (self == 0) return;  // it has not begun: at the next look
  if (!left.empty() && left != at_ && bind_thread(self, left)) at_ = left;
  const std::uint32_t rests = left.empty();
  if (resting_.exchange(rests, std::memory_order_relaxed) == 1 && !rests)
    base::futex_wake(resting_, 1);
}

}  // namespace headway::progress
