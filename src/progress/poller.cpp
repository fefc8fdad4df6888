#include "progress/poller.hpp"

#include <sched.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/futex.hpp"

namespace headway::progress {
namespace {

constexpr std::uint64_t least_pause_attended_ns = 100'000;
constexpr std::uint64_t longest_pause_attended_ns = 1'000'000;
constexpr std::uint32_t sweep_period = 16;  // rounds of an idle poller

}  // namespace

poller::poller(engine_core& core, plan how) : core_(core), plan_(std::move(how)) {
  thread_ = start_thread(plan_.thread, [this] { run(); });
}

poller::~poller() {
  stop_.store(1, std::memory_order_seq_cst);  // pairs with the load in sleep_quietly
  core_.open_quiet();
  base::futex_wake(stop_, 1);
  // At its low priority it might not get to see it for long. 0: it has not begun, nor gone low.
  const auto self = kernel_thread_.load(std::memory_order_seq_cst);
  if (plan_.when_idle && self != 0) lift(self);
  thread_.join();
}

void poller::run() noexcept {
  auto& me = this_thread();
  if (plan_.when_idle) {
    run_when_idle();
    kernel_thread_.store(base::thread_of(me.ticket), std::memory_order_seq_cst);
    me.ticket |= base::low_priority_bit;
  }
  std::uint64_t rounds_seen = 0, attended_pause = least_pause_attended_ns;
  for (std::uint32_t round = 0; !stop_.load(std::memory_order_relaxed); ++round) {
    if (core_.nothing_for_background()) core_.sleep_quietly(stop_);
    const auto rounds = core_.queues.root().explicit_rounds();
    if (rounds != rounds_seen) {
      rounds_seen = rounds;
      pause(attended_pause);
      attended_pause = std::min(2 * attended_pause, longest_pause_attended_ns);
      continue;
    }
    attended_pause = least_pause_attended_ns;
    const bool everywhere = !plan_.when_idle || round % sweep_period == 0;
    const auto o = core_.round(me, round_kind::background, everywhere);
    me.pay_wake_ups();
    regain_low_priority();
    if (!o.advanced) {
      pause(plan_.period_ns);
      core_.every_100_ms.run_if_due(base::now_ns());
    }
  }
}

void poller::pause(std::uint64_t for_ns) noexcept {
  if (for_ns == 0) sched_yield();
  else base::futex_wait(stop_, 0, base::now_ns() + for_ns);
}

/// Somebody who met our mask while we had no processor may have lifted us (engine_core.cpp).
void poller::regain_low_priority() noexcept {
  const auto lifts = core_.counted.lifts.load(std::memory_order_relaxed);
  if (!plan_.when_idle || lifts == lifts_seen_) return;
  lifts_seen_ = lifts;
  run_when_idle();
}

}  // namespace headway::progress
