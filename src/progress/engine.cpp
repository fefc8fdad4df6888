#include "progress/engine.hpp"

#include <sched.h>

#include <array>
#include <mutex>
#include <optional>

#include "base/assert.hpp"
#include "base/backoff.hpp"
#include "base/beside.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "progress/background.hpp"
#include "progress/engine_core.hpp"
#include "progress/tunables.hpp"
#include "progress/waiting.hpp"

namespace headway::progress {

struct engine::parts {
  parts(const topology::machine& machine, const engine_options& options,
        std::unique_ptr<guard> sentry)
      : core(machine, options, std::move(sentry)) {}

  void turn(polling_point point, bool on);
  static void look_around(void* self) noexcept;

  engine_core core;
  std::mutex control;  // cold: start, stop and change of the threads below
  background threads{core};
  std::uint32_t looks = 0;  // of the tick
};

namespace {

std::uint64_t period_ns(const base::number_tunable& t) {
  return static_cast<std::uint64_t>(t.get()) * 1'000;
}

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

/// A wait is under way: for whom it concerns, and for the meter.
class wait_account {
 public:
  explicit wait_account(thread_record& me) noexcept
      : timed_(me.measured, "wait", &meter::waits, &meter::waited_ns) {}

 private:
  base::thread_waits_here has_time_;
  stretch timed_;
};

[[gnu::noinline]] void wait_on(engine_core& core, completion& what, waiting::outcome how) noexcept {
  completion* const one[] = {&what};
  wait_set set(one);
  static_cast<void>(waiting(core, set, base::no_deadline).run(how));
}

}  // namespace

void engine::parts::turn(polling_point point, bool on) {
  if (on && core.options.locks == locking::none) {
    base::log(base::severity::info,
              "no background polling: HEADWAY_LOCKING=none is for one thread");
    return;
  }
  threads.turn(point, on);
  // Those who sleep on the assumption that our threads watch must look themselves from now on.
  if (!on) disturb_all();
}

void engine::parts::look_around(void* self) noexcept {
  constexpr std::uint32_t bound_period = 5;  // ticks
  auto& p = *static_cast<parts*>(self);
  p.core.look_around();
  if (++p.looks % bound_period != 0) return;  // ticks run one at a time
  // Who changes the threads now looks after it; and joins one that may be here.
  const std::unique_lock hold(p.control, std::try_to_lock);
  if (hold) p.threads.mind_bound_threads();
}

base::result<std::unique_ptr<engine>> engine::start(const topology::machine& machine,
                                                    const engine_options& options) {
  meter::decide();
  auto sentry = guard::open(period_ns(timer_us));
  if (!sentry) return std::unexpected(std::move(sentry.error()));
  std::unique_ptr<engine> made(
      new engine(std::make_unique<parts>(machine, options, std::move(*sentry))));
  auto& core = made->parts_->core;
  made->set_polling(options.points);
  core.look_around();
  core.every_100_ms.add(&parts::look_around, made->parts_.get());
  return made;
}

engine::engine(std::unique_ptr<parts> made) : parts_(std::move(made)) {}

engine::~engine() {
  const std::lock_guard hold(parts_->control);
  for (const auto point : all_points) parts_->turn(point, false);
}

void engine::submit(ltask& task) noexcept { submit_to(parts_->core.queues.root(), task); }
void engine::submit_here(ltask& task) noexcept { submit_to(parts_->core.queues.leaf(), task); }
void engine::submit_at(topology::place_id place, ltask& task) noexcept {
  submit_to(parts_->core.queues.at(place), task);
}

void engine::submit_to(task_queue& queue, ltask& task) noexcept {
  auto& core = parts_->core;
  if (core.options.locks == locking::coarse) [[unlikely]] {
    const engine_core::section alone(core, this_thread());
    queue.submit(task);
  } else {
    queue.submit(task);
  }
  core.tell_background();
  core.sentry->kick_sleeper();
}

void engine::submit_to_background(ltask& task) noexcept {
  submit(task);
  parts_->core.rouse_event_thread();
}

spare_hands engine::spare_hands() const noexcept {
  const auto& core = parts_->core;
  const bool free = core.options.locks == locking::fine &&
                    core.watched.load(std::memory_order_relaxed) &&
                    core.hands_to_spare.load(std::memory_order_relaxed) &&
                    !core.crowded.load(std::memory_order_relaxed);  // hints, all of them
  if (!free || this_thread().running) return {};
  return {.idle = 1, .wake_ns = core.wake_ns.load(std::memory_order_relaxed)};
}

bool engine::watched() const noexcept {
  return parts_->core.watched.load(std::memory_order_relaxed);  // a hint, see engine_core.hpp
}

locking engine::locks() const noexcept { return parts_->core.options.locks; }
void engine::enter() noexcept { parts_->core.enter(this_thread()); }
void engine::leave() noexcept { parts_->core.leave(this_thread()); }

bool engine::cancel(ltask& task) noexcept {
  auto& core = parts_->core;
  auto& me = this_thread();
  core.forbid_inside_ltask(me, "cancel");
  for (base::backoff its_way;; its_way.wait()) {
    auto* home = task.home_.load(std::memory_order_acquire);  // (H) of `task_queue::submit`
    const auto take_back = [&] {
      const engine_core::section alone(core, me);
      return home->take_back(me, task);
    };
    if (home && take_back()) return true;
    // Else it went from one queue to another. Relaxed: what a run did is ordered by the mask.
    if (task.state_.load(std::memory_order_relaxed) != ltask::state::queued &&
        task.home_.load(std::memory_order_relaxed) == home)
      return false;
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

bool engine::poll_everywhere() noexcept {
  auto& core = parts_->core;
  auto& me = this_thread();
  core.forbid_inside_ltask(me, "poll");
  const auto o = core.round(me, round_kind::explicit_, true);
  me.pay_wake_ups();
  core.every_100_ms.run_if_due(base::now_ns());
  return o.advanced;
}

void engine::wait(completion& what) noexcept {
  auto& me = this_thread();
  engine_core::forbid_inside_ltask(me, "wait");
  if (what.test()) return;
  const wait_account open(me);
  const auto how =
      waiting::look(parts_->core, me, what.shared() ? nullptr : &what, [&] { return what.test(); });
  if (how != waiting::outcome::complete) wait_on(parts_->core, what, how);
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

std::optional<std::size_t> engine::wait_any_until(std::span<completion* const> any,
                                                  std::uint64_t deadline_ns) noexcept {
  wait_set set(any);
  if (!wait_for(set, deadline_ns)) return std::nullopt;
  return set.index();
}

void engine::lend(base::atomic<std::uint32_t>& give_back, std::uint64_t deadline_ns) noexcept {
  constexpr int rounds_before_yield = 64;
  auto& core = parts_->core;
  auto& me = this_thread();
  engine_core::forbid_inside_ltask(me, "lend");
  for (int idle = 0; give_back.load(std::memory_order_relaxed) == 0;) {
    if (core.nothing_for_background()) core.sleep_quietly(give_back, deadline_ns);
    const auto o = core.round(me, round_kind::background, true);
    me.pay_wake_ups();
    idle = o.advanced ? 0 : idle + 1;
    if (idle % rounds_before_yield != 0 || o.advanced) continue;
    sched_yield();
    const auto now = base::now_ns();
    core.every_100_ms.run_if_due(now);
    if (now >= deadline_ns) return;
  }
}

void engine::end_lending(base::atomic<std::uint32_t>& give_back) noexcept {
  give_back.store(1, std::memory_order_seq_cst);  // pairs with the load in sleep_quietly
  parts_->core.open_quiet();
}

bool engine::wait_for(wait_set& set, std::uint64_t deadline_ns) noexcept {
  auto& core = parts_->core;
  auto& me = this_thread();
  engine_core::forbid_inside_ltask(me, "wait");
  if (set.done()) return true;
  const wait_account open(me);
  const auto how = waiting::look(core, me, set.only(), [&] { return set.done(); });
  return how == waiting::outcome::complete || waiting(core, set, deadline_ns).run(how);
}

void engine::pending_started() noexcept {
  pending_counted();
  pending_told();
}
void engine::pending_counted() noexcept { parts_->core.work.started(); }
void engine::pending_told() noexcept { parts_->core.tell_background(); }

void engine::pending_ended() noexcept { parts_->core.work.ended(); }
std::uint32_t engine::pending() const noexcept {
  const auto& core = parts_->core;
  return core.work.balance() + core.queues.unrun();
}

void engine::add_source(event_source& source) { parts_->core.sentry->add(source); }
void engine::remove_source(event_source& source) { parts_->core.sentry->remove(source); }

void engine::blind_started() noexcept { parts_->core.sentry->blind_started(); }
void engine::blind_ended() noexcept { parts_->core.sentry->blind_ended(); }

void engine::add_tick(void (*tick)(void*) noexcept, void* argument) {
  parts_->core.every_100_ms.add(tick, argument);
}
void engine::remove_tick(void (*tick)(void*) noexcept, void* argument) {
  parts_->core.every_100_ms.remove(tick, argument);
}

void engine::set_polling(polling points) {
  const std::lock_guard hold(parts_->control);
  parts_->threads.lend_spare(false);
  for (const auto point : all_points) parts_->turn(point, false);
  if (const auto chosen = point_of(points)) parts_->turn(*chosen, true);
  if (points == polling::automatic && parts_->core.options.locks != locking::none)
    parts_->threads.lend_spare(true);
}

void engine::turn(polling_point point, bool on) {
  const std::lock_guard hold(parts_->control);
  parts_->turn(point, on);
}

bool engine::is_on(polling_point point) const {
  const std::lock_guard hold(parts_->control);
  return parts_->threads.is_on(point);
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
          .attended_looks = of(c.attended_looks),
          .event_sleeps = of(c.event_sleeps),
          .quiet_sleeps = of(c.quiet_sleeps),
          .lifts = of(c.lifts),
          .spare_spells = of(c.spare_spells),
          .spare_withdrawals = of(c.spare_withdrawals),
          .idle_rests = of(c.idle_rests),
          .demotions = of(c.demotions),
          .delays = of(c.delays)};
}

std::vector<queue_statistics> engine::queues() const {
  std::vector<queue_statistics> all;
  for (const auto& place : parts_->core.machine.places()) {
    const auto c = parts_->core.queues.at(place.id).count();
    all.push_back({.place = place.name,
                   .explicit_rounds = c.explicit_rounds,
                   .background_rounds = c.background_rounds,
                   .hits = c.hits,
                   .runs = c.runs,
                   .skips = c.skips,
                   .masked_ns = c.masked_ns,
                   .longest_wait_ns = c.longest_wait_ns});
  }
  return all;
}

}  // namespace headway::progress
