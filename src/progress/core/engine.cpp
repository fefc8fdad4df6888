#include "progress/core/engine.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/backoff.hpp"
#include "base/thread_role.hpp"
#include "progress/background/polling_points.hpp"
#include "progress/core/engine_core.hpp"
#include "progress/core/meter.hpp"
#include "progress/waiting/waiting.hpp"

namespace headway::progress {

struct engine::parts {
  parts(const topology::machine& machine, const settings& chosen, int processes, base::clock clock,
        std::unique_ptr<kernel_sleeper> sleeper)
      : core(machine, chosen, processes, clock, std::move(sleeper)) {}

  static void tick(void* self) noexcept;

  engine_core core;
  polling_points points{core};
  std::uint32_t ticks = 0;  // written by the tick: one runs at a time
};

namespace {

/// Marks the calling thread as waiting, and times the wait where it is metered. Of `attend`, which
/// the wait calls where it polls, the end.
class wait_account {
 public:
  wait_account(engine_core& core, thread_record& me) noexcept
      : core_(core), me_(me), timed_(me.measured, "wait", &meter::waits, &meter::waited_ns) {}
  ~wait_account() { core_.quiet.stop_attending(me_); }
  wait_account(const wait_account&) = delete;
  wait_account& operator=(const wait_account&) = delete;

 private:
  engine_core& core_;
  thread_record& me_;
  base::waiting_thread_scope waits_;
  stretch timed_;
};

[[gnu::noinline]] clock_looks wait_on(engine_core& core, completion& what,
                                      waiting::outcome how) noexcept {
  completion* const one[] = {&what};
  wait_set set(one);
  waiting rest(core, set, base::no_deadline);
  static_cast<void>(rest.run(how));
  return rest.looks();
}

}  // namespace

void engine::parts::tick(void* self) noexcept {
  constexpr std::uint32_t avoid_period = 5;  // ticks
  auto& p = *static_cast<parts*>(self);
  p.core.sample_load();
  if (++p.ticks % avoid_period == 0) p.points.avoid_bound_threads_if_free();
}

base::result<std::unique_ptr<engine>> engine::start(const topology::machine& machine,
                                                    const settings& chosen, int processes_on_node,
                                                    base::clock clock) {
  HEADWAY_ASSERT(processes_on_node >= 1 && chosen.idle_slowdown >= 1);
  auto sleeper = kernel_sleeper::open(chosen.timer_ns);
  if (!sleeper) return std::unexpected(std::move(sleeper.error()));
  std::unique_ptr<engine> made(new engine(
      std::make_unique<parts>(machine, chosen, processes_on_node, clock, std::move(*sleeper))));
  auto& core = made->parts_->core;
  made->parts_->points.choose(chosen.points);
  if (clock.is_virtual()) return made;  // the machine's load says nothing about a virtual time
  core.sample_load();
  core.regular.add(&parts::tick, made->parts_.get(), ticks::each_tenth_second);
  return made;
}

engine::engine(std::unique_ptr<parts> made) : parts_(std::move(made)) {}

engine::~engine() { parts_->points.stop(); }

const settings& engine::chosen() const noexcept { return parts_->core.chosen; }
base::clock engine::clock() const noexcept { return parts_->core.clock; }
polling_points& engine::points() noexcept { return parts_->points; }

void engine::submit(ltask& task) noexcept { submit_to(parts_->core.queues.root(), task); }
void engine::submit_here(ltask& task) noexcept { submit_to(parts_->core.queues.leaf(), task); }
void engine::submit_at(topology::place_id place, ltask& task) noexcept {
  HEADWAY_DEBUG_ASSERT(static_cast<std::size_t>(place) < parts_->core.machine.places().size());
  submit_to(parts_->core.queues.at(place), task);
}

void engine::submit_signalled(ltask& task) noexcept { put(parts_->core.queues.root(), task); }

void engine::submit_to(task_queue& queue, ltask& task) noexcept {
  put(queue, task);
  parts_->core.sleeper->kick_sleeper();
}

void engine::put(task_queue& queue, ltask& task) noexcept {
  auto& core = parts_->core;
  if (core.chosen.locks == locking::coarse) [[unlikely]] {  // else its record is not looked up
    const library_lock::section alone(core.library, this_thread());
    queue.submit(task);
  } else {
    queue.submit(task);
  }
  core.quiet.tell();
}

void engine::rely() noexcept { parts_->core.quiet.rely(); }
void engine::rely_no_more() noexcept { parts_->core.quiet.rely_no_more(); }

void engine::look_now() noexcept {
  if (auto& me = this_thread(); me.running) me.looks_again = true;
  else static_cast<void>(poll());
}

void engine::submit_to_background(ltask& task) noexcept {
  submit(task);
  parts_->core.nap.end();
}

spare_hands engine::spare_hands() const noexcept {
  const auto& core = parts_->core;
  const bool free = core.chosen.locks == locking::fine &&
                    core.watched.load(std::memory_order_relaxed) &&  // all of these are hints
                    core.processor_to_spare.load(std::memory_order_relaxed) &&
                    !core.load.oversubscribed();
  if (!free || this_thread().running) return {};
  return {.idle = 1, .wake_ns = core.nap.wake_ns()};
}

void engine::set_deferred(void (*what)(void*) noexcept, void* argument) noexcept {
  parts_->core.deferred.set(what, argument);
}
void engine::defer() noexcept { parts_->core.deferred.defer(); }
bool engine::ranks_fill_node() const noexcept { return parts_->core.quiet.ranks_fill_node(); }

bool engine::watched() const noexcept {
  return parts_->core.watched.load(std::memory_order_relaxed);  // a hint, see engine_core.hpp
}

bool engine::threads_want_processors() const noexcept {
  return parts_->core.load.oversubscribed_by_others();
}

void engine::enter() noexcept { parts_->core.library.enter(this_thread()); }
void engine::leave() noexcept { parts_->core.library.leave(this_thread()); }

bool engine::cancel(ltask& task) noexcept {
  auto& core = parts_->core;
  auto& me = this_thread();
  core.forbid_inside_ltask(me, "cancel");
  for (base::backoff until_settled;; until_settled.wait()) {
    auto* home = task.home_.load(std::memory_order_acquire);  // (H) of `task_queue::submit`
    const auto take_back = [&] {
      const library_lock::section alone(core.library, me);
      return home->take_back(me, task);
    };
    if (home && take_back()) return true;
    // Otherwise it has moved from one queue to another: search there. Relaxed: the mask orders what
    // a run did.
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
  core.deferred.run();
  if (round % clock_period == 0) core.regular.run_if_due(core.clock.now_ns());
  return o.advanced;
}

bool engine::poll_everywhere() noexcept {
  auto& core = parts_->core;
  auto& me = this_thread();
  core.forbid_inside_ltask(me, "poll");
  const auto o = core.round(me, round_kind::explicit_, true);
  me.pay_wake_ups();
  core.deferred.run();
  core.regular.run_if_due(core.clock.now_ns());
  return o.advanced;
}

clock_looks engine::wait(completion& what) noexcept {
  auto& me = this_thread();
  engine_core::forbid_inside_ltask(me, "wait");
  if (what.test()) return {};
  const wait_account open(parts_->core, me);
  const auto* const only = what.shared() ? nullptr : &what;
  const auto how = waiting::look(parts_->core, me, only, [&] { return what.test(); });
  if (how == waiting::outcome::complete) return {};
  return wait_on(parts_->core, what, how);
}

bool engine::wait_until(completion& what, std::uint64_t deadline_ns) noexcept {
  completion* const one[] = {&what};
  wait_set set(one);
  return wait_for(set, deadline_ns);
}

std::size_t engine::wait_any(std::span<completion* const> any) noexcept {
  HEADWAY_DEBUG_ASSERT(std::ranges::any_of(any, [](const completion* one) { return one; }));
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

bool engine::wait_for(wait_set& set, std::uint64_t deadline_ns) noexcept {
  auto& core = parts_->core;
  auto& me = this_thread();
  engine_core::forbid_inside_ltask(me, "wait");
  if (set.done()) return true;
  const wait_account open(core, me);
  const auto how = waiting::look(core, me, set.only(), [&] { return set.done(); });
  return how == waiting::outcome::complete || waiting(core, set, deadline_ns).run(how);
}

void engine::pending_started() noexcept {
  pending_counted();
  pending_told();
}
void engine::pending_counted() noexcept { parts_->core.work.started(); }
void engine::pending_joined() noexcept { parts_->core.work.passed(1); }
void engine::pending_told() noexcept { parts_->core.quiet.tell(); }

void engine::pending_ended() noexcept { parts_->core.work.ended(); }
std::uint32_t engine::pending() const noexcept {
  const auto& core = parts_->core;
  return core.work.balance() + core.queues.taken_count();
}

void engine::expect_one_waiter(bool one) noexcept {
  parts_->core.one_waiter.store(one, std::memory_order_relaxed);
}
bool engine::expects_one_waiter() const noexcept {
  return parts_->core.one_waiter.load(std::memory_order_relaxed);
}

bool engine::begin_lone_spin() noexcept {
  auto& core = parts_->core;
  const bool may =
      core.chosen.waits != waiting_policy::block && !core.load.oversubscribed() && pending() == 0;
  return may && !core.lone_spin.exchange(true, std::memory_order_relaxed);
}
void engine::end_lone_spin() noexcept {
  HEADWAY_DEBUG_ASSERT(parts_->core.lone_spin.load(std::memory_order_relaxed));
  parts_->core.lone_spin.store(false, std::memory_order_relaxed);
}

void engine::add_source(event_source& source) { parts_->core.sleeper->add(source); }
void engine::remove_source(event_source& source) { parts_->core.sleeper->remove(source); }

void engine::blind_started() noexcept { parts_->core.sleeper->blind_started(); }
void engine::blind_ended() noexcept { parts_->core.sleeper->blind_ended(); }

void engine::add_tick(void (*tick)(void*) noexcept, void* argument, std::uint32_t every) {
  parts_->core.regular.add(tick, argument, every);
}
void engine::remove_tick(void (*tick)(void*) noexcept, void* argument) {
  parts_->core.regular.remove(tick, argument);
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
          .kernel_sleeps = of(c.kernel_sleeps),
          .hand_overs = of(c.hand_overs),
          .event_looks = of(c.event_looks),
          .attended_looks = of(c.attended_looks),
          .event_sleeps = of(c.event_sleeps),
          .quiet_sleeps = of(c.quiet_sleeps),
          .parked_sleeps = of(c.parked_sleeps),
          .armings = of(c.armings),
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
