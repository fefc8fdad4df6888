#include "c_api/progress/library.hpp"

#include <pthread.h>
#include <sched.h>

#include <cstdio>
#include <cstring>

#include "base/log.hpp"
#include "progress/background/polling_points.hpp"
#include "progress/core/meter.hpp"
#include "progress/waiting/thread_record.hpp"

namespace headway::progress_api {
namespace {

constexpr std::uint64_t stop_limit_ns = 200'000'000;  // for rounds that have not counted yet

#ifdef HEADWAY_NOTHREAD
constexpr bool has_threads = false;
#else
constexpr bool has_threads = true;
#endif

thread_local char last_error[256] = "no error";

void in_child() {
  // A child has no background threads, and locks may be held for ever: nothing can be used.
  auto& l = the_library();
  if (!host()) return;
  the_host.store(nullptr, std::memory_order_relaxed);
  l.forked.store(true, std::memory_order_relaxed);
}

/// Turns on the polling points that the options name.
void turn_points([[maybe_unused]] progress::engine& e, [[maybe_unused]] unsigned chosen) {
#ifndef HEADWAY_NOTHREAD
  auto& points = e.points();
  points.turn(progress::polling_point::event, (chosen & HEADWAY_PROGRESS_EVENT) != 0);
  points.turn(progress::polling_point::timer, (chosen & HEADWAY_PROGRESS_TIMER) != 0);
  points.turn(progress::polling_point::idle, (chosen & HEADWAY_PROGRESS_IDLE) != 0);
#endif
}

/// The composition of this library: the only place here where the environment is read.
base::result<> build(library& l, const headway_progress_options& options)
    HEADWAY_REQUIRES(l.control) {
  base::log_as(base::log_settings::from_environment());
  auto settings = progress::settings::from_environment();
  const auto watched = watch::settings::from_environment();
  const bool by_user = options.points_from_user != 0 && has_threads;
  if (!by_user) settings.points = progress::polling::off;
  auto machine = topology::machine::read(topology::settings::from_environment());
  if (!machine) return std::unexpected(std::move(machine.error()));
  watch::switch_on_meters(watched);
  if (options.measured) progress::meter::switch_on();
  const int processes = options.processes_on_node ? static_cast<int>(options.processes_on_node) : 1;
  auto engine = progress::engine::start(**machine, settings, processes);
  if (!engine) return std::unexpected(std::move(engine.error()));
  if (!by_user) turn_points(**engine, static_cast<unsigned>(options.points));
  l.watching = std::make_unique<watch::observer>(watch::observed{.progress = **engine}, watched);
  l.machine = std::move(*machine);
  l.engine = std::move(*engine);
  l.tasks = std::make_unique<task_host>(*l.engine);
  return {};
}

int start(const headway_progress_options* options) {
  constexpr auto call = "headway_progress_start";
  const headway_progress_options standard = HEADWAY_PROGRESS_OPTIONS;
  if (options && options->size != sizeof *options)
    return fail(HEADWAY_PROGRESS_MISUSE, call,
                fmt::format("options.size is {}, not {}", options->size, sizeof *options));
  auto& l = the_library();
  if (l.forked.load(std::memory_order_relaxed)) return not_started(call);
  if (const int status = forbid_inside(call)) return status;
  static const int registered = pthread_atfork(nullptr, nullptr, in_child);
  static_cast<void>(registered);
  const base::lock_guard hold(l.control);
  if (l.users == 0) {
    if (auto built = build(l, options ? *options : standard); !built)
      return fail(HEADWAY_PROGRESS_SYSTEM, call, built.error().text);
  }
  ++l.users;
  l.was_started.store(true, std::memory_order_relaxed);
  the_host.store(l.tasks.get(), std::memory_order_release);
  return HEADWAY_PROGRESS_OK;
}

/// The number of submitted ltasks; waits up to `stop_limit_ns` until it is 0, because a round under
/// way counts late.
std::uint32_t still_submitted(library& l) {
  const auto until = l.engine->clock().now_ns() + stop_limit_ns;
  for (;;) {
    const auto left = l.engine->pending() + static_cast<std::uint32_t>(l.tasks->unpending());
    if (left == 0 || l.engine->clock().now_ns() > until) return left;
    sched_yield();
  }
}

int stop() {
  constexpr auto call = "headway_progress_stop";
  auto& l = the_library();
  if (!host()) return not_started(call);
  if (const int status = forbid_inside(call)) return status;
  const base::lock_guard hold(l.control);
  if (l.users == 1) {
    if (!l.loans.empty())
      return fail(HEADWAY_PROGRESS_MISUSE, call, "a thread is still inside headway_progress_run");
    if (const auto left = still_submitted(l))
      return fail(HEADWAY_PROGRESS_MISUSE, call,
                  fmt::format("at least {} ltasks or waits are still pending", left));
    the_host.store(nullptr, std::memory_order_relaxed);
    l.watching->finish();
    l.tasks.reset();
    l.engine.reset();
    l.watching->write_timeline();  // after the engine's threads have ended
    l.watching.reset();
    l.machine.reset();
  }
  --l.users;
  return HEADWAY_PROGRESS_OK;
}

}  // namespace

constinit base::atomic<task_host*> the_host{nullptr};

library& the_library() noexcept {
  // Never destroyed: a program that exits without `stop` leaves background threads to the kernel.
  static auto& the = *new library;
  return the;
}

int fail(headway_progress_status status, const char* call, const std::string& why) noexcept {
  std::snprintf(last_error, sizeof last_error, "%s: %s", call, why.c_str());
  if (status == HEADWAY_PROGRESS_MISUSE) std::fprintf(stderr, "headway: bug: %s\n", last_error);
  return status;
}

int not_started(const char* call) noexcept {
  const auto& l = the_library();
  if (l.forked.load(std::memory_order_relaxed))
    return fail(HEADWAY_PROGRESS_MISUSE, call,
                "this process was forked from one that uses the library; call exec first");
  if (l.was_started.load(std::memory_order_relaxed))
    return fail(HEADWAY_PROGRESS_MISUSE, call, "called after headway_progress_stop");
  return fail(HEADWAY_PROGRESS_MISUSE, call, "called before headway_progress_start");
}

int is_inside(const char* call) noexcept {
  return fail(HEADWAY_PROGRESS_MISUSE, call,
              fmt::format("called from the body of ltask '{}', which may not wait or poll",
                          progress::this_thread().running->name()));
}

}  // namespace headway::progress_api

using namespace headway;

extern "C" {

int headway_progress_start(const headway_progress_options* options) {
  try {
    return progress_api::start(options);
  } catch (const std::exception& e) {
    return progress_api::fail(HEADWAY_PROGRESS_SYSTEM, "headway_progress_start", e.what());
  }
}

int headway_progress_stop(void) { return progress_api::stop(); }

const char* headway_progress_error(void) { return progress_api::last_error; }

const char* headway_progress_flavour(void) {
  return headway::progress_api::has_threads ? "threads" : "none";
}

const char* headway_progress_version(void) { return HEADWAY_VERSION_TEXT; }

}  // extern "C"
