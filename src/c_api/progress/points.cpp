// headway/progress.h: polling points, lent threads, hooks for thread schedulers, places.

#include <optional>

#include "base/futex.hpp"
#include "c_api/progress/library.hpp"
#include "progress/background/polling_points.hpp"

namespace headway::progress_api {
namespace {

using progress::polling_point;

std::optional<polling_point> point_of(int p) noexcept {
  switch (p) {
    case HEADWAY_PROGRESS_EVENT:
      return polling_point::event;
    case HEADWAY_PROGRESS_TIMER:
      return polling_point::timer;
    case HEADWAY_PROGRESS_IDLE:
      return polling_point::idle;
  }
  return std::nullopt;
}

/// The engine, or null with the call's return value in `status`.
progress::engine* engine_for(const char* call, int& status) noexcept {
  auto* const user = host();
  status = user ? forbid_inside(call) : not_started(call);
  return status == HEADWAY_PROGRESS_OK ? &user->home() : nullptr;
}

/// The engine for scheduler hooks, which may be called at any time: null means that there is
/// nothing to do.
progress::engine* engine_if_any() noexcept {
  auto* const user = host();
  return user && !inside_ltask() ? &user->home() : nullptr;
}

int turn(int point, bool on) {
  constexpr auto call = "headway_progress_turn";
  int status;
  auto* e = engine_for(call, status);
  if (!e) return status;
  const auto which = point_of(point);
  if (!which)
    return fail(HEADWAY_PROGRESS_MISUSE, call, fmt::format("{} is no polling point", point));
#ifdef HEADWAY_NOTHREAD
  if (on) return fail(HEADWAY_PROGRESS_UNSUPPORTED, call, "this flavour has no threads");
#endif
  e->points().turn(*which, on);
  return HEADWAY_PROGRESS_OK;
}

}  // namespace
}  // namespace headway::progress_api

using namespace headway;
using namespace headway::progress_api;

extern "C" {

int headway_progress_poll(void) {
  int status;
  auto* e = engine_for("headway_progress_poll", status);
  return e ? static_cast<int>(e->poll()) : status;
}

int headway_progress_turn(int point, int on) {
  try {
    return turn(point, on != 0);
  } catch (const std::exception& e) {
    return fail(HEADWAY_PROGRESS_SYSTEM, "headway_progress_turn", e.what());
  }
}

int headway_progress_is_on(int point) {
  int status;
  auto* e = engine_for("headway_progress_is_on", status);
  const auto which = point_of(point);
  return e ? static_cast<int>(which && e->points().is_on(*which)) : status;
}

int headway_progress_pending_started(void) {
  auto* const user = host();
  if (!user) return not_started("headway_progress_pending_started");
  user->home().pending_started();
  return HEADWAY_PROGRESS_OK;
}

int headway_progress_pending_ended(void) {
  auto* const user = host();
  if (!user) return not_started("headway_progress_pending_ended");
  user->home().pending_ended();
  return HEADWAY_PROGRESS_OK;
}

int headway_progress_run(uint64_t limit_ns) {
  int status;
  auto* e = engine_for("headway_progress_run", status);
  if (!e) return status;
  const auto now = e->clock().now_ns();
  const auto deadline = limit_ns > base::no_deadline - now ? base::no_deadline : now + limit_ns;
  auto& l = the_library();
  loan mine;
  {
    const base::lock_guard hold(l.control);
    l.loans.push_back(mine);
  }
  e->points().lend(mine.give_back, deadline);
  const base::lock_guard hold(l.control);
  l.loans.erase(mine);
  return HEADWAY_PROGRESS_OK;
}

int headway_progress_run_end(void) {
  int status;
  auto* e = engine_for("headway_progress_run_end", status);
  if (!e) return status;
  auto& l = the_library();
  const base::lock_guard hold(l.control);
  for (auto* one = l.loans.front(); one; one = l.loans.after(*one))
    e->points().end_lending(one->give_back);
  return HEADWAY_PROGRESS_OK;
}

int headway_progress_place_count(void) {
  const auto* const user = host();
  return user ? static_cast<int>(the_library().machine->places().size()) : 0;
}

const char* headway_progress_place_name(int place) {
  if (place < 0 || place >= headway_progress_place_count()) return nullptr;
  return the_library().machine->places()[static_cast<std::size_t>(place)].name.c_str();
}

int headway_progress_on_idle(void) {
  auto* e = engine_if_any();
  if (!e) return 0;
  e->poll();
  return e->pending() != 0;
}

int headway_progress_on_switch(void) {
  auto* e = engine_if_any();
  return e && e->pending() != 0 && e->poll();
}

int headway_progress_on_tick(void) {
  auto* e = engine_if_any();
  if (!e) return 0;
  e->poll_everywhere();
  return e->pending() != 0;
}

}  // extern "C"
