#include "progress/background.hpp"

#include "progress/choice.hpp"
#include "progress/scheduling.hpp"
#include "progress/tunables.hpp"

namespace headway::progress {
namespace {

std::uint64_t period_ns(const base::number_tunable& t) {
  return static_cast<std::uint64_t>(t.get()) * 1'000;
}

}  // namespace

bool background::is_on(polling_point point) const noexcept {
  switch (point) {
    case polling_point::event:
      return event_ != nullptr;
    case polling_point::timer:
      return timer_ != nullptr;
    case polling_point::idle:
      break;
  }
  return !idle_.empty();
}

void background::turn(polling_point point, bool on) {
  if (on == is_on(point)) return;
  switch (point) {
    case polling_point::event:
      event_ = on ? std::make_unique<event_thread>(core_) : nullptr;
      break;
    case polling_point::timer:
      timer_ =
          on ? std::make_unique<poller>(
                   core_, poller::plan{.thread = {"hw-timer", usable_processors(core_.machine)},
                                       .period_ns = period_ns(timer_us)})
             : nullptr;
      break;
    case polling_point::idle:
      if (on) start_idle();
      else idle_.clear();
      break;
  }
}

void background::start_idle() {
  const auto sites = poller_sites(core_.machine, static_cast<topology::level>(idle_level.index()),
                                  static_cast<placing>(idle_places.index()));
  for (const auto& site : sites)
    idle_.push_back(std::make_unique<poller>(
        core_, poller::plan{.thread = {site.name, site.processors},
                            .period_ns = period_ns(idle_us),
                            .when_idle = true,
                            .calm_period_ns = period_ns(idle_calm_us),
                            .slowdown = static_cast<std::uint64_t>(idle_slowdown.get())}));
  mind_bound_threads();
}

void background::lend_spare(bool on) {
  const situation at_best{.usable = core_.machine.usable_processors(),
                          .shared = core_.machine.node_processors(),
                          .processes = core_.options.processes_on_node,
                          .quota = core_.machine.limited_by_quota(),
                          .blind = true};
  const bool lends = on && spare_poller_pays(at_best);
  core_.spare.exists.store(lends, std::memory_order_relaxed);
  if (!lends) core_.spare.pays.store(false, std::memory_order_relaxed);
  spare_ = lends ? std::make_unique<spare_poller>(core_) : nullptr;
}

void background::mind_bound_threads() {
  if (idle_.empty() || core_.machine.imagined()) return;
  const auto bound = bound_.look(core_.machine);
  for (const auto& p : idle_) p->keep_off(bound);
}

}  // namespace headway::progress
