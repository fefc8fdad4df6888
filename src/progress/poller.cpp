#include "progress/poller.hpp"

#include <sched.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/futex.hpp"
#include "progress/placement.hpp"

namespace headway::progress {
namespace {

constexpr std::uint64_t least_pause_attended_ns = 100'000;
constexpr std::uint64_t longest_pause_attended_ns = 1'000'000;
constexpr std::uint32_t sweep_period = 16;  // rounds of an idle poller

}  // namespace

poller::poller(engine_core& core, plan how)
    : core_(core),
      plan_(std::move(how)),
      pace_({.longest_ns = plan_.calm_period_ns, .slowdown = plan_.slowdown}) {
  at_ = plan_.thread.processors;
  thread_ = start_thread(plan_.thread, [this] { run(); });
}

poller::~poller() {
  stop_.store(1, std::memory_order_seq_cst);  // pairs with the load in sleep_quietly
  core_.open_quiet();
  base::futex_wake(stop_, 1);
  resting_.store(0, std::memory_order_seq_cst);
  base::futex_wake(resting_, 1);
  // At its low priority it might not get to see it for long. 0: it has not begun, nor gone low.
  const auto self = kernel_thread_.load(std::memory_order_seq_cst);
  if (plan_.when_idle && self != 0) lift(self);
  thread_.join();
}

void poller::run() noexcept {
  auto& me = this_thread();
  ask_exact_sleeps();
  if (plan_.when_idle) run_when_idle();
  else ask_short_slices();
  kernel_thread_.store(base::thread_of(me.ticket), std::memory_order_seq_cst);
  if (plan_.when_idle) me.ticket |= base::low_priority_bit;
  std::uint64_t rounds_seen = 0, attended_pause = least_pause_attended_ns;
  for (std::uint32_t round = 0; !stop_.load(std::memory_order_relaxed); ++round) {
    if (core_.nothing_for_background()) {
      core_.sleep_quietly(stop_);
      way_.did_something_else();
    }
    if (resting_.load(std::memory_order_relaxed) != 0) {
      rest();
      way_.did_something_else();
    }
    const auto rounds = core_.queues.root().explicit_rounds();
    if (rounds != rounds_seen) {
      rounds_seen = rounds;
      core_.count(core_.counted.attended_looks);
      pause(attended_pause);
      way_.did_something_else();
      attended_pause = std::min(2 * attended_pause, longest_pause_attended_ns);
      continue;
    }
    attended_pause = least_pause_attended_ns;
    const bool everywhere = !plan_.when_idle || round % sweep_period == 0;
    const auto o = core_.round(me, round_kind::background, everywhere);
    me.pay_wake_ups();
    if (plan_.when_idle) core_.regain_low_priority(lifts_seen_);
    const auto period = next_period_ns(o.advanced);
    if (o.advanced) {
      way_.did_something_else();
      continue;
    }
    pause_after_round(period);
  }
}

void poller::pause_after_round(std::uint64_t period_ns) noexcept {
  const auto for_ns = plan_.when_idle ? way_.pause_ns(period_ns) : period_ns;
  pause(for_ns);
  const auto now = base::now_ns();
  way_.paused(for_ns, now);
  core_.every_100_ms.run_if_due(now);
}

void poller::pause(std::uint64_t for_ns) noexcept {
  if (for_ns == 0) sched_yield();
  else base::futex_wait(stop_, 0, base::now_ns() + for_ns);
}

/// Its own core belongs to a computing thread, and others are free, where others of us poll.
void poller::rest() noexcept {
  core_.count(core_.counted.idle_rests);
  while (resting_.load(std::memory_order_relaxed) != 0 && !stop_.load(std::memory_order_seq_cst))
    base::futex_wait(resting_, 1);
}

/// Nothing is urgent while nothing moves and nothing begins.
std::uint64_t poller::next_period_ns(bool moved) noexcept {
  const auto shortest = std::max(plan_.period_ns, core_.sentry->shortest_period_ns());
  const auto starts = core_.work.starts();
  const bool urgent = moved || starts != starts_seen_;
  starts_seen_ = starts;
  return pace_.next_ns(urgent, shortest, base::now_ns);
}

void poller::keep_off(const std::vector<int>& bound) noexcept {
  if (plan_.thread.processors.empty()) return;
  const auto left = free_part(core_.machine, plan_.thread.processors, bound);
  const auto self = kernel_thread_.load(std::memory_order_seq_cst);
  if (self == 0) return;  // it has not begun: the next look will do
  if (!left.empty() && left != at_ && bind_thread(self, left)) at_ = left;
  const std::uint32_t rests = left.empty();
  if (resting_.exchange(rests, std::memory_order_relaxed) == 1 && !rests)
    base::futex_wake(resting_, 1);
}

}  // namespace headway::progress
