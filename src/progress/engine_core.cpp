#include "progress/engine_core.hpp"

#include <unistd.h>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "progress/choice.hpp"
#include "progress/scheduling.hpp"

namespace headway::progress {
namespace {

// A round takes a few microseconds; whoever keeps a mask longer has lost its processor.
constexpr std::uint64_t stall_ns = 100'000;

}  // namespace

queue_tree::outcome engine_core::measured_round(thread_record& me, round_kind kind,
                                                bool everywhere) noexcept {
  const auto began_ns = base::now_ns();
  me.measured->enter_round(kind);
  const auto o = visit(me, kind, everywhere);
  me.measured->round(kind, o.advanced, o.met_taken_mask, began_ns);
  return o;
}

void engine_core::mind_stall(thread_record& me) noexcept {
  const auto holder = queues.root().holder();
  if (holder == 0) return;
  const auto now = base::now_ns();
  if (holder != me.stalled_by) {
    me.stalled_by = holder;
    me.stalled_since_ns = now;
    return;
  }
  if (now - me.stalled_since_ns < stall_ns) return;
  me.stalled_since_ns = now;
  if (holder & base::low_priority_bit) {
    // It goes back to its low priority after the round (poller.cpp).
    if (lift(base::thread_of(holder))) count(counted.lifts);
    base::nap();  // it may need this very core
  } else {
    help(holder);
  }
}

/// An application's thread has lost its processor in a round. It gets it back in its turn, which
/// may be far away in a crowd; if we may, we see to it that it is sooner.
void engine_core::help(base::mask::ticket holder) noexcept {
  constexpr std::uint64_t longest_ns = 20'000'000;
  const auto thread = base::thread_of(holder);
  auto* const record = record_of(thread);
  if (!record || !standing::may_have_weight()) return base::nap();
  preferred helped(record->in_kernel, thread);
  if (!helped.ask(true)) return base::nap();
  count(counted.lifts);
  const auto end = base::now_ns() + longest_ns;
  do base::nap();
  while (queues.root().holder() == holder && base::now_ns() < end);
}

void engine_core::regain_low_priority(std::uint64_t& seen) const noexcept {
  const auto lifts = counted.lifts.load(std::memory_order_relaxed);
  if (lifts == seen) return;
  seen = lifts;
  run_when_idle();
}

void engine_core::look_around() noexcept {
  look_for_crowd();
  const situation seen{.usable = machine.usable_processors(),
                       .shared = machine.node_processors(),
                       .processes = options.processes_on_node,
                       .quota = machine.limited_by_quota(),
                       .blind = sentry->is_blind(),
                       .wake_ns = wake_ns.load(std::memory_order_relaxed)};
  hands_to_spare.store(processor_to_spare(seen), std::memory_order_relaxed);
  spare.pays.store(spare.exists.load(std::memory_order_relaxed) && spare_poller_pays(seen),
                   std::memory_order_relaxed);
}

void engine_core::look_at_delay(thread_record& me, std::uint64_t now_ns) noexcept {
  constexpr std::uint64_t period_ns = 50'000'000, lasts_ns = 300'000'000;
  constexpr std::uint64_t least_demand_ns = 2'000'000;
  // Threads that wake each other lose less a turn, 30 us where a processor has to be woken for it.
  constexpr std::uint64_t least_turn_ns = 100'000;
  const bool first = me.delay_due_ns == 0;
  me.delay_due_ns = now_ns + period_ns;
  const auto times = own_times();
  if (!times) return;
  const auto delayed = times->delayed_ns - me.delayed_ns;
  const auto demand = times->ran_ns - me.ran_ns + delayed;
  me.ran_ns = times->ran_ns;
  me.delayed_ns = times->delayed_ns;
  const auto turns = times->turns - me.turns;
  me.turns = times->turns;
  // A fifth of the time: one who shares his processor with another loses half of it.
  if (first || demand < least_demand_ns || delayed < demand / 5) return;
  if (delayed < turns * least_turn_ns) return;
  count(counted.delays);
  delayed_until_ns_.store(now_ns + lasts_ns, std::memory_order_relaxed);
  crowded.store(true, std::memory_order_relaxed);
}

void engine_core::look_for_crowd() noexcept {
  // Not those we are bound to: ranks that are bound each to a core of their own must spin.
  const int shared = machine.node_processors();
  // One more runs for the moment: the thread that looks.
  const bool many_threads =
      machine.runnable_threads() - (spare.polls.load(std::memory_order_relaxed) ? 1 : 0) >
      static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)) + 1;
  const int looks = many_threads ? crowded_looks_.load(std::memory_order_relaxed) + 1 : 0;
  crowded_looks_.store(looks, std::memory_order_relaxed);  // ticks run one at a time
  outnumbered.store(options.processes_on_node > shared, std::memory_order_relaxed);
  const bool delayed = base::now_ns() < delayed_until_ns_.load(std::memory_order_relaxed);
  crowded.store(options.processes_on_node > shared || looks >= 2 || delayed,
                std::memory_order_relaxed);
}

}  // namespace headway::progress
