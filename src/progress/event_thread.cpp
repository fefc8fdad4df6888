#include "progress/event_thread.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/futex.hpp"
#include "progress/scheduling.hpp"

namespace headway::progress {
namespace {

constexpr std::uint64_t us = 1'000;
constexpr std::uint64_t first_pause_ns = 50 * us;
constexpr std::uint64_t longest_pause_ns = 1'000 * us;
constexpr std::uint64_t longest_pause_vacant_ns = 250 * us;     // sleepers may have nobody but us
constexpr std::uint64_t longest_pause_crowded_ns = 4'000 * us;  // 16 ranks look 16 times
constexpr std::uint64_t taken_pause_ns = 20 * us;
constexpr int idle_looks_max = 3;

std::vector<int> usable(const topology::machine& machine) {
  if (machine.imagined()) return {};
  return machine.places().front().processors;
}

}  // namespace

event_thread::event_thread(engine_core& core) : core_(core), pause_ns_(first_pause_ns) {
  thread_ = start_thread({"hw-event", usable(core.machine)}, [this] { run(); });
  core_.watched.store(true, std::memory_order_relaxed);
}

event_thread::~event_thread() {
  core_.watched.store(false, std::memory_order_relaxed);
  stop_.store(1, std::memory_order_seq_cst);  // pairs with the loads in sleep_quietly and watch
  core_.open_quiet();
  core_.sentry->kick();
  base::futex_wake(stop_, 1);
  thread_.join();
}

void event_thread::run() noexcept {
  ask_short_slices();
  auto& me = this_thread();
  while (!stop_.load(std::memory_order_relaxed)) {
    if (idle_looks_ >= idle_looks_max || core_.sentry->held_by() == guard::holder::application) {
      core_.sleep_quietly(stop_);
      idle_looks_ = 0;
      pause_ns_ = first_pause_ns;
      rounds_seen_ = core_.queues.root().explicit_rounds();
    }
    doze();
    if (look() == finding::unattended) watch(me);
  }
}

void event_thread::doze() noexcept {
  pause(pause_ns_);
  core_.count(core_.counted.event_looks);
}

void event_thread::pause(std::uint64_t for_ns) noexcept {
  base::futex_wait(stop_, 0, base::now_ns() + for_ns);
}

event_thread::finding event_thread::look() noexcept {
  const auto rounds = core_.queues.root().explicit_rounds();
  const auto starts = core_.work.starts();
  auto found = finding::attended;
  if (core_.work.balance() == 0) {
    found = finding::nothing;
    idle_looks_ = starts == starts_seen_ ? idle_looks_ + 1 : 0;
  } else {
    idle_looks_ = 0;
    core_.every_100_ms.run_if_due(base::now_ns());
    if (rounds == rounds_seen_) found = finding::unattended;
  }
  // Left alone for longer and longer while others poll; back soon when they cease.
  pause_ns_ =
      found == finding::unattended ? first_pause_ns : std::min(2 * pause_ns_, longest_pause());
  rounds_seen_ = rounds;
  starts_seen_ = starts;
  return found;
}

std::uint64_t event_thread::longest_pause() const noexcept {
  if (core_.crowded.load(std::memory_order_relaxed)) return longest_pause_crowded_ns;
  return core_.lead.holder() == 0 ? longest_pause_vacant_ns : longest_pause_ns;
}

void event_thread::watch(thread_record& me) noexcept {
  auto& sentry = *core_.sentry;
  if (!sentry.try_take(guard::holder::background)) return;
  const auto must_leave = [&] {
    return stop_.load(std::memory_order_seq_cst) != 0 || sentry.wished();
  };
  for (;;) {
    const auto until = base::now_ns() + ticks::period_ns;
    core_.count(core_.counted.event_sleeps);
    sentry.sleep(until, [&] { return must_leave() || core_.queues.has_submissions(); });
    core_.every_100_ms.run_if_due(base::now_ns());
    if (must_leave() || core_.queues.root().explicit_rounds() != rounds_seen_) break;
    poll_until_idle(me);
    if (core_.work.balance() == 0) break;
  }
  sentry.release();
}

void event_thread::poll_until_idle(thread_record& me) noexcept {
  for (;;) {
    const auto o = core_.round(me, round_kind::background, true);
    me.pay_wake_ups();
    // The holder of the mask polls for us, or needs the processor that we run on.
    if (o.met_taken_mask && !o.advanced) pause(taken_pause_ns);
    if (!o.advanced || stop_.load(std::memory_order_relaxed)) return;
    if (core_.queues.root().explicit_rounds() != rounds_seen_) return;  // attended: hands off
  }
}

}  // namespace headway::progress
