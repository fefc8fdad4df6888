#include "progress/engine.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <mutex>
#include <optional>
#include <vector>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "progress/engine_core.hpp"
#include "progress/event_thread.hpp"
#include "progress/poller.hpp"
#include "progress/tunables.hpp"
#include "progress/waiting.hpp"

namespace headway::progress {

struct engine::parts {
  parts(const topology::machine& machine, const engine_options& options,
        std::unique_ptr<guard> sentry)
      : core(machine, options, std::move(sentry)) {}

  void start_threads(polling points);
  void stop_threads() noexcept;

  engine_core core;
  std::mutex control;  // cold: start, stop and change of the threads below
  std::unique_ptr<event_thread> event;
  std::vector<std::unique_ptr<poller>> pollers;
};

namespace {

void look_for_crowd(void* core) noexcept { static_cast<engine_core*>(core)->look_for_crowd(); }

std::uint64_t period_ns(const base::number_tunable& t) {
  return static_cast<std::uint64_t>(t.get()) * 1'000;
}

poller::plan idle_plan(const topology::machine& machine, const topology::place& leaf) {
  // One thread for each core, not for each of its hardware threads.
  auto processors = leaf.processors;
  if (machine.imagined()) processors.clear();
  else processors.resize(1);
  return {
      {fmt::format("hw-idle{}", leaf.processors.front()), processors}, period_ns(idle_us), true};
}

}  // namespace

void engine::parts::start_threads(polling points) {
  const auto& places = core.machine.places();
  switch (points) {
    case polling::off:
    case polling::explicit_:
      break;
    case polling::event:
    case polling::automatic:
      event = std::make_unique<event_thread>(core);
      break;
    case polling::timer:
      pollers.push_back(std::make_unique<poller>(
          core, poller::plan{{"hw-timer", core.machine.imagined() ? std::vector<int>{}
                                                                  : places.front().processors},
                             period_ns(timer_us),
                             false}));
      break;
    case polling::idle:
      for (const auto& p : places)
        if (p.children == 0)
          pollers.push_back(std::make_unique<poller>(core, idle_plan(core.machine, p)));
      break;
  }
}

void engine::parts::stop_threads() noexcept {
  event.reset();
  pollers.clear();
  // Those who sleep on the assumption that our threads watch must look themselves from now on.
  disturb_all();
}

base::result<std::unique_ptr<engine>> engine::start(const topology::machine& machine,
                                                    const engine_options& options) {
  auto sentry = guard::open(period_ns(timer_us));
  if (!sentry) return std::unexpected(std::move(sentry.error()));
  std::unique_ptr<engine> made(
      new engine(std::make_unique<parts>(machine, options, std::move(*sentry))));
  auto& core = made->parts_->core;
  core.look_for_crowd();
  core.every_100_ms.add(look_for_crowd, &core);
  made->set_polling(options.points);
  return made;
}

engine::engine(std::unique_ptr<parts> made) : parts_(std::move(made)) {}

engine::~engine() {
  const std::lock_guard hold(parts_->control);
  parts_->stop_threads();
}

void engine::submit(ltask& task) noexcept { submit_to(parts_->core.queues.root(), task); }
void engine::submit_here(ltask& task) noexcept { submit_to(parts_->core.queues.leaf(), task); }

void engine::submit_to(task_queue& queue, ltask& task) noexcept {
  auto& core = parts_->core;
  // Counted before it can run: a round may end it before `submit` returns, and free it.
  if (task.kind_ == ltask_kind::one_shot) core.work.started();
  queue.submit(task);
  core.tell_background();
  core.sentry->kick_sleeper();
}

void engine::cancel(ltask& task) noexcept {
  auto& core = parts_->core;
  auto& me = this_thread();
  core.forbid_inside_ltask(me, "cancel");
  for (;;) {
    auto* home = task.home_.load(std::memory_order_relaxed);
    if (home && home->take_back(me, task)) {
      if (task.kind_ == ltask_kind::one_shot) core.work.ended();
      return;
    }
    // acquire: pairs with the exchange in `submit`; what the last run did is ordered by the mask.
    if (task.state_.load(std::memory_order_acquire) != ltask::state::queued) return;
    sched_yield();  // on its way from one queue to another
  }
}

bool engine::poll() noexcept {
  constexpr std::uint32_t sweep_period = 64, clock_period = 1024;
  auto& core = parts_->core;
  auto& me = this_thread();
  core.forbid_inside_ltask(me, "poll");
  const auto round = ++me.rounds;
  const auto o = core.round(me, round_kind::explicit_, round % sweep_period == 0);
  me.pay_wake_ups();
  if (round % clock_period == 0) core.every_100_ms.run_if_due(base::now_ns());
  return o.advanced;
}

void engine::wait(completion& what) noexcept {
  completion* const one[] = {&what};
  wait_set set(one);
  static_cast<void>(wait_for(set, base::no_deadline));
}

bool engine::wait_until(completion& what, std::uint64_t deadline_ns) noexcept {
  completion* const one[] = {&what};
  wait_set set(one);
  return wait_for(set, deadline_ns);
}

std::size_t engine::wait_any(std::span<completion* const> any) noexcept {
  wait_set set(any);
  static_cast<void>(wait_for(set, base::no_deadline));
  return set.index();
}

bool engine::wait_for(wait_set& set, std::uint64_t deadline_ns) noexcept {
  engine_core::forbid_inside_ltask(this_thread(), "wait");
  return set.done() || waiting(parts_->core, set, deadline_ns).run();
}

void engine::pending_started() noexcept {
  parts_->core.work.started();
  parts_->core.tell_background();
}

void engine::pending_ended() noexcept { parts_->core.work.ended(); }

void engine::add_source(event_source& source) { parts_->core.sentry->add(source); }
void engine::remove_source(event_source& source) { parts_->core.sentry->remove(source); }

void engine::add_tick(void (*tick)(void*) noexcept, void* argument) {
  parts_->core.every_100_ms.add(tick, argument);
}
void engine::remove_tick(void (*tick)(void*) noexcept, void* argument) {
  parts_->core.every_100_ms.remove(tick, argument);
}

void engine::set_polling(polling points) {
  const std::lock_guard hold(parts_->control);
  parts_->stop_threads();
  parts_->start_threads(points);
}

engine_statistics engine::statistics() const noexcept {
  const auto& core = parts_->core;
  const auto q = core.queues.count();
  const auto of = [](const base::atomic<std::uint64_t>& c) {
    return c.load(std::memory_order_relaxed);
  };
  const auto& c = core.counted;
  return {.explicit_rounds = q.explicit_rounds,
          .background_rounds = q.background_rounds,
          .hits = q.hits,
          .runs = q.runs,
          .skips = q.skips,
          .sleeps = of(c.sleeps),
          .guard_sleeps = of(c.guard_sleeps),
          .hand_overs = of(c.hand_overs),
          .event_looks = of(c.event_looks),
          .event_sleeps = of(c.event_sleeps),
          .quiet_sleeps = of(c.quiet_sleeps),
          .lifts = of(c.lifts)};
}

}  // namespace headway::progress
