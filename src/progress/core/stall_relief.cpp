#include "progress/core/stall_relief.hpp"

#include "base/backoff.hpp"
#include "progress/os/sched_boost.hpp"
#include "progress/os/scheduling.hpp"

namespace headway::progress {
namespace {

// A round takes a few microseconds; a thread that keeps a mask for longer has lost its processor.
constexpr std::uint64_t stall_ns = 100'000;

}  // namespace

void stall_relief::met_taken_mask(thread_record& me) noexcept {
  const auto holder = queues_.root().holder();
  if (holder == 0) return;
  const auto now = clock_.now_ns();
  if (holder != me.stalled_by) {
    me.stalled_by = holder;
    me.stalled_since_ns = now;
    return;
  }
  if (now - me.stalled_since_ns < stall_ns) return;
  me.stalled_since_ns = now;
  if (holder & base::low_priority_bit) {
    // After the round it returns to its low priority (`regain_low_priority`).
    if (lift(base::thread_of(holder))) engine_counters::count(counted_.lifts);
    base::nap();  // the holder may need this very core
  } else {
    help(holder);
  }
}

/// A thread of the program has lost its processor in a round. Its next turn may be far away on an
/// oversubscribed machine: if permitted, it is raised until the round ends.
void stall_relief::help(base::mask::ticket holder) noexcept {
  constexpr std::uint64_t longest_ns = 20'000'000;
  const auto thread = base::thread_of(holder);
  auto* const record = record_of(thread);
  if (!record || !sched_boost::may_raise_weight()) return base::nap();
  scoped_boost helped(record->in_kernel, thread);
  if (!helped.ask(true)) return base::nap();
  engine_counters::count(counted_.lifts);
  const auto end = clock_.now_ns() + longest_ns;
  do base::nap();
  while (queues_.root().holder() == holder && clock_.now_ns() < end);
}

void stall_relief::regain_low_priority(std::uint64_t& lifts_seen,
                                       void (*lower)() noexcept) const noexcept {
  const auto lifts = counted_.lifts.load(std::memory_order_relaxed);
  if (lifts == lifts_seen) return;
  lifts_seen = lifts;
  lower();
}

}  // namespace headway::progress
