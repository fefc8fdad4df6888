#include "progress/background/spare_poller.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/futex.hpp"
#include "progress/os/scheduling.hpp"

namespace headway::progress {
namespace {

using base::ms;
using base::us;
constexpr std::uint64_t window_ns = 1 * ms;      // without an event, until it sleeps
constexpr std::uint64_t lost_ns = 200 * us;      // between two clock reads, 16 rounds apart
constexpr std::uint64_t stale_call_ns = 2 * ms;  // from the call to the first round
constexpr std::uint64_t attended_pause_ns = 100 * us;
constexpr std::uint64_t first_backoff_ns = 10 * ms, longest_backoff_ns = 1'000 * ms;
// after so long a spell, the back-off starts anew
constexpr std::uint64_t sound_spell_ns = 50 * ms;
constexpr std::uint32_t clock_rounds = 16;  // rounds

}  // namespace

spare_poller::spare_poller(engine_core& core) : core_(core), backoff_ns_(first_backoff_ns) {
  thread_ = start_thread({"hw-spare", usable_processors(core.machine)}, [this] { run(); });
}

spare_poller::~spare_poller() {
  stop_.store(1, std::memory_order_seq_cst);
  core_.spare.called.store(1, std::memory_order_release);
  base::futex_wake(core_.spare.called, 1);
  base::futex_wake(stop_, 1);
  // 0: its priority is still normal.
  if (const auto self = kernel_thread_.load(std::memory_order_seq_cst)) lift(self);
  thread_.join();
  core_.spare.called.store(0, std::memory_order_relaxed);
}

void spare_poller::run() noexcept {
  auto& me = this_thread();
  run_when_spare();
  kernel_thread_.store(base::thread_of(me.ticket), std::memory_order_seq_cst);
  me.ticket |= base::low_priority_bit;
  auto& spare = core_.spare;
  while (!stop_.load(std::memory_order_relaxed)) {
    // (C) of spare_call.hpp: the time of the call was written before.
    if (spare.called.load(std::memory_order_acquire) == 0) {
      base::futex_wait(spare.called, 0);
      continue;
    }
    const auto called_ns = spare.called_ns.load(std::memory_order_relaxed);
    const auto began_ns = core_.clock.now_ns();
    auto how = ending::lost_processor;
    if (began_ns < called_ns + stale_call_ns) {
      engine_counters::count(core_.counted.spare_spells);
      how = spell(me);
    }
    if (how == ending::lost_processor) withdraw();
    else if (core_.clock.now_ns() - began_ns > sound_spell_ns) backoff_ns_ = first_backoff_ns;
    // An exchange with acquire: a store could overwrite the destructor's call unseen, and with it
    // `stop_`.
    spare.called.exchange(0, std::memory_order_acquire);
    core_.nap.end();  // the event thread resumes polling
  }
}

void spare_poller::withdraw() noexcept {
  engine_counters::count(core_.counted.spare_withdrawals);
  core_.spare.not_before_ns.store(core_.clock.now_ns() + backoff_ns_, std::memory_order_relaxed);
  backoff_ns_ = std::min(2 * backoff_ns_, longest_backoff_ns);
}

/// A queue that a waiting thread polls is skipped.
bool spare_poller::stay_away_while_attended() noexcept {
  const auto rounds = core_.queues.root().explicit_rounds();
  if (rounds == rounds_seen_) return false;
  rounds_seen_ = rounds;
  base::futex_wait(stop_, 0, core_.clock.now_ns() + attended_pause_ns);
  return true;
}

void spare_poller::beat() noexcept {
  auto& beats = core_.spare.beats;  // written by this thread only
  beats.store(beats.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

spare_poller::ending spare_poller::spell(thread_record& me) noexcept {
  auto& spare = core_.spare;
  beat();
  spare.polls.store(true, std::memory_order_relaxed);
  core_.sleeper->kick_sleeper();  // else the event thread would be woken for what this thread finds
  rounds_seen_ = core_.queues.root().explicit_rounds();
  auto looked_ns = core_.clock.now_ns(), moved_ns = looked_ns;
  auto how = ending::over;
  bool moved = false;
  for (std::uint32_t round = 1; !stop_.load(std::memory_order_relaxed); ++round) {
    if (core_.quiet.nothing_to_do() || !spare.pays.load(std::memory_order_relaxed)) break;
    const bool attended = stay_away_while_attended();
    if (!attended) {
      const auto o = core_.round(me, round_kind::background, round % clock_rounds == 0);
      me.pay_wake_ups();
      core_.stalls.regain_low_priority(lifts_seen_, &run_when_spare);
      moved |= o.advanced;
      base::relax();
      if (round % clock_rounds != 0) continue;
    }
    beat();
    const auto now = core_.clock.now_ns();
    const bool lost = !attended && !moved && now - looked_ns > lost_ns;
    if (moved) moved_ns = now;
    looked_ns = now;
    moved = false;
    if (lost) how = ending::lost_processor;
    if (lost || now - moved_ns > window_ns) break;
  }
  spare.polls.store(false, std::memory_order_relaxed);
  return how;
}

}  // namespace headway::progress
