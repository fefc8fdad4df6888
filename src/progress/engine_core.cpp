#include "progress/engine_core.hpp"

#include <sched.h>
#include <unistd.h>

#include "base/clock.hpp"
#include "progress/choice.hpp"
#include "progress/scheduling.hpp"

namespace headway::progress {
namespace {

// A round takes a few microseconds; whoever keeps a mask longer has lost its processor.
constexpr std::uint64_t stall_ns = 100'000;

}  // namespace

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
  // Only our idle pollers need help: all others get their turn by themselves. It goes back to its
  // low priority after the round (poller.cpp).
  if ((holder & base::low_priority_bit) && lift(base::thread_of(holder))) count(counted.lifts);
  sched_yield();  // it may need this very core
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
  spare.pays.store(spare.exists.load(std::memory_order_relaxed) && spare_poller_pays(seen),
                   std::memory_order_relaxed);
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
  crowded.store(options.processes_on_node > shared || looks >= 2, std::memory_order_relaxed);
}

}  // namespace headway::progress
