#include "progress/waiting/load_estimate.hpp"

#include <unistd.h>

#include <algorithm>

#include "progress/os/scheduling.hpp"

namespace headway::progress {

void load_estimate::sample(const topology::machine& machine, int processes_on_node,
                           bool spare_poller_runs) noexcept {
  // Not only the processors that this process is bound to: ranks that are each bound to a core of
  // their own must spin.
  const bool more_ranks = processes_on_node > machine.node_processors();
  // A quarter more than the processors: each thread then loses a fifth of its time, as in
  // `measure_delay`. And one, because the sampling thread itself runs, too.
  const int processors = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const int runnable = machine.runnable_threads() - (spare_poller_runs ? 1 : 0);
  const bool many_threads = runnable > processors + processors / 4 + 1;
  const int samples = many_threads ? samples_in_a_row_.load(std::memory_order_relaxed) + 1 : 0;
  samples_in_a_row_.store(samples, std::memory_order_relaxed);
  more_ranks_.store(more_ranks, std::memory_order_relaxed);
  const bool delayed = clock_.now_ns() < delayed_until_ns_.load(std::memory_order_relaxed);
  oversubscribed_.store(more_ranks || samples >= 2 || delayed, std::memory_order_relaxed);
  // Our part of those that are free, and those of the threads that watch already.
  const int unwanted = (processors - runnable) / std::max(processes_on_node, 1) +
                       watches_.load(std::memory_order_relaxed);
  watches_max_.store(std::min(unwanted, machine.usable_processors() - 1),
                     std::memory_order_relaxed);
}

void load_estimate::measure_delay(thread_record& me, std::uint64_t now_ns) noexcept {
  constexpr std::uint64_t period_ns = 50'000'000, lasts_ns = 300'000'000;
  constexpr std::uint64_t least_demand_ns = 2'000'000;
  // Threads that wake each other lose less each time they get a processor: 30 us if a processor has
  // to be woken for it.
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
  // A fifth of the time: a thread that shares its processor with one other loses half of it.
  if (first || demand < least_demand_ns || delayed < demand / 5) return;
  if (delayed < turns * least_turn_ns) return;
  engine_counters::count(counted_.delays);
  delayed_until_ns_.store(now_ns + lasts_ns, std::memory_order_relaxed);
  oversubscribed_.store(true, std::memory_order_relaxed);
}

}  // namespace headway::progress
