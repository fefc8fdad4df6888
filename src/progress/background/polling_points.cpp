#include "progress/background/polling_points.hpp"

#include <sched.h>

#include <array>
#include <optional>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "progress/background/spare_poller_choice.hpp"
#include "progress/os/scheduling.hpp"

namespace headway::progress {
namespace {

constexpr std::array all_points{polling_point::event, polling_point::timer, polling_point::idle};

/// The point that a choice of polling consists of.
std::optional<polling_point> point_of(polling points) {
  switch (points) {
    case polling::off:
    case polling::explicit_:
      break;
    case polling::event:
    case polling::automatic:
      return polling_point::event;
    case polling::timer:
      return polling_point::timer;
    case polling::idle:
      return polling_point::idle;
  }
  return std::nullopt;
}

}  // namespace

void polling_points::choose(polling points) {
  engine_core::forbid_inside_ltask(this_thread(), "choose");
  const base::lock_guard hold(control_);
  turn_spare(false);
  for (const auto point : all_points) turn_locked(point, false);
  if (const auto chosen = point_of(points)) turn_locked(*chosen, true);
  if (points == polling::automatic && core_.chosen.locks != locking::none) turn_spare(true);
}

void polling_points::turn(polling_point point, bool on) {
  engine_core::forbid_inside_ltask(this_thread(), "turn");
  const base::lock_guard hold(control_);
  turn_locked(point, on);
}

void polling_points::stop() {
  const base::lock_guard hold(control_);
  for (const auto point : all_points) turn_locked(point, false);
}

bool polling_points::is_on(polling_point point) const {
  const base::lock_guard hold(control_);
  return is_on_locked(point);
}

bool polling_points::is_on_locked(polling_point point) const noexcept {
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

void polling_points::turn_locked(polling_point point, bool on) {
  HEADWAY_ASSERT(!on || !core_.clock.is_virtual());  // its threads sleep by the kernel's clock
  if (on && core_.chosen.locks == locking::none) {
    base::log(base::severity::info,
              "no background polling: HEADWAY_LOCKING=none is for one thread");
    return;
  }
  if (on != is_on_locked(point)) {
    switch (point) {
      case polling_point::event:
        event_ = on ? std::make_unique<event_thread>(core_) : nullptr;
        break;
      case polling_point::timer:
        timer_ =
            on ? std::make_unique<poller>(
                     core_, poller::plan{.thread = {"hw-timer", usable_processors(core_.machine)},
                                         .period_ns = core_.chosen.timer_ns})
               : nullptr;
        break;
      case polling_point::idle:
        if (on) start_idle();
        else idle_.clear();
        break;
    }
  }
  HEADWAY_ASSERT(is_on_locked(point) == on);
  // Threads that sleep on the assumption that a background thread polls must look themselves now.
  if (!on) signal_all();
}

/// One poller for each place that HEADWAY_IDLE_LEVEL and HEADWAY_IDLE_PLACES choose.
void polling_points::start_idle() {
  const auto& chosen = core_.chosen;
  const auto sites = poller_sites(core_.machine, chosen.idle_level, chosen.idle_places);
  for (const auto& site : sites)
    idle_.push_back(std::make_unique<poller>(
        core_, poller::plan{.thread = {site.name, site.processors},
                            .period_ns = chosen.idle_ns,
                            .when_idle = true,
                            .calm_period_ns = chosen.idle_calm_ns,
                            .slowdown = chosen.idle_slowdown,
                            .count = static_cast<std::uint32_t>(sites.size()),
                            .index = static_cast<std::uint32_t>(idle_.size())}));
  avoid_bound_threads();
}

/// A spare poller beside the event thread, where it could ever pay.
void polling_points::turn_spare(bool on) {
  const situation at_best{.usable = core_.machine.usable_processors(),
                          .shared = core_.machine.node_processors(),
                          .processes = core_.processes_on_node,
                          .quota = core_.machine.limited_by_quota(),
                          .blind = true};
  const bool exists = on && spare_poller_pays(at_best);
  core_.spare.exists.store(exists, std::memory_order_relaxed);
  if (!exists) core_.spare.pays.store(false, std::memory_order_relaxed);
  spare_ = exists ? std::make_unique<spare_poller>(core_) : nullptr;
}

void polling_points::avoid_bound_threads_if_free() {
  // The thread that holds `control_` may be joining this one: never wait for it here.
  if (!control_.try_lock()) return;
  const base::lock_guard hold(control_, std::adopt_lock);
  avoid_bound_threads();
}

void polling_points::avoid_bound_threads() {
  if (idle_.empty() || core_.machine.imagined()) return;
  const auto bound = bound_.find(core_.machine);
  for (const auto& p : idle_) p->avoid(bound);
}

void polling_points::lend(base::atomic<std::uint32_t>& give_back,
                          std::uint64_t deadline_ns) noexcept {
  constexpr int rounds_before_yield = 64;
  HEADWAY_ASSERT(!core_.clock.is_virtual());  // it sleeps by the kernel's clock
  auto& me = this_thread();
  engine_core::forbid_inside_ltask(me, "lend");
  for (int idle = 0; give_back.load(std::memory_order_relaxed) == 0;) {
    if (core_.quiet.nothing_to_do()) core_.quiet.sleep(give_back, deadline_ns);
    const auto o = core_.round(me, round_kind::background, true);
    me.pay_wake_ups();
    idle = o.advanced ? 0 : idle + 1;
    if (idle % rounds_before_yield != 0 || o.advanced) continue;
    sched_yield();
    const auto now = core_.clock.now_ns();
    core_.regular.run_if_due(now);
    if (now >= deadline_ns) return;
  }
}

void polling_points::end_lending(base::atomic<std::uint32_t>& give_back) noexcept {
  give_back.store(1, std::memory_order_seq_cst);  // pairs with the load in quiet_sleep::sleep
  core_.quiet.wake_all();
}

}  // namespace headway::progress
