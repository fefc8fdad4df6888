#include "progress/core/engine_core.hpp"

#include <utility>

#include "progress/background/spare_poller_choice.hpp"
#include "progress/core/meter.hpp"
#include "progress/os/scheduling.hpp"

namespace headway::progress {

queue_tree::outcome engine_core::measured_round(thread_record& me, round_kind kind,
                                                bool everywhere) noexcept {
  const auto began_ns = base::machine_now_ns();
  me.measured->enter_round(kind);
  const auto o = visit(me, kind, everywhere);
  me.measured->round(kind, o.advanced, o.met_taken_mask, began_ns);
  return o;
}

void engine_core::look_again(thread_record& me, round_kind kind,
                             queue_tree::outcome& sum) noexcept {
  while (std::exchange(me.looks_again, false)) {
    const auto o = visit(me, kind, true);
    sum.advanced |= o.advanced;
    sum.one_shots += o.one_shots;
  }
}

void engine_core::sample_load() noexcept {
  load.sample(machine, processes_on_node, spare.polls.load(std::memory_order_relaxed));
  const situation seen{.usable = machine.usable_processors(),
                       .shared = machine.node_processors(),
                       .processes = processes_on_node,
                       .quota = machine.limited_by_quota(),
                       .blind = sleeper->is_blind(),
                       .contended = load.oversubscribed() && !may_run_when_idle(),
                       .wake_ns = nap.wake_ns()};
  processor_to_spare.store(has_processor_to_spare(seen), std::memory_order_relaxed);
  spare.pays.store(spare.exists.load(std::memory_order_relaxed) && spare_poller_pays(seen),
                   std::memory_order_relaxed);
}

}  // namespace headway::progress
