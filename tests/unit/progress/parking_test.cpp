// The event thread parks on event sources that are not armed (progress/background/parking.hpp).

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <thread>
#include <utility>

#include "fixture.hpp"
#include "mailbox.hpp"
#include "progress/background/polling_points.hpp"

namespace headway::progress::testing::parking_tests {
namespace {

/// One short wait, which disarms the sources while it polls.
void attend(engine& e) {
  completion never;
  static_cast<void>(e.wait_until(never, 0));
}

/// Starts something. True: while the event thread was parked, which arms the sources.
bool starts_and_arms(engine& e) {
  const auto before = e.statistics().armings;
  e.pending_started();
  return e.statistics().armings != before;
}

/// Starts something while the event thread is parked, if it comes to that.
void starts(engine& e) {
  for (int tries = 1; !starts_and_arms(e) && tries < 100; ++tries) {
    e.pending_ended();
    attend(e);
    pass_time(5);
  }
}

/// Skips the test if the event thread never parks because other programs keep the processors busy.
void needs_parking(running& e) {
  int tries = 0, busy = 0;
  const bool parks = eventually([&] {
    const bool armed = starts_and_arms(*e);
    e->pending_ended();
    attend(*e);
    pass_time(5);
    ++tries;
    busy += e.machine->runnable_threads() > e.machine->node_processors() + 1;
    return armed;
  });
  if (!parks && busy > tries / 10)
    GTEST_SKIP() << "the machine was busy in " << busy << " of " << tries << " looks";
  ASSERT_TRUE(parks);
}

/// The event thread neither looks nor goes to sleep anew, from `act` until 5 ms after it.
template <class Act>
bool event_thread_rests(engine& e, Act&& act) {
  const auto before = e.statistics();
  act();
  pass_time(5);
  const auto after = e.statistics();
  return after.event_looks == before.event_looks && after.event_sleeps == before.event_sleeps;
}

TEST(parking, what_starts_wakes_no_thread) {
  running e(polling::event);
  mailbox box(*e);
  needs_parking(e);
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(eventually([&] {  // once without a look that something before it has caused
    starts(*e);
    const bool rests = event_thread_rests(*e, [] {});
    e->pending_ended();
    return rests;
  }));
}

/// A repeat ltask that counts its runs.
struct counted_task : ltask {
  counted_task()
      : ltask("counted", [](ltask& self) noexcept {
          ++static_cast<counted_task&>(self).runs;
          return ltask_result::idle;
        }) {}
  std::atomic<int> runs{0};
};

TEST(parking, what_is_submitted_as_signalled_wakes_no_thread) {
  running e(polling::event);
  mailbox box(*e);
  needs_parking(e);
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(eventually([&] {  // once without a look that something before it has caused
    starts(*e);
    counted_task task;
    const bool rests = event_thread_rests(*e, [&] { e->submit_signalled(task); });
    const int runs = task.runs;
    completion signal;
    box.post(signal);
    EXPECT_TRUE(eventually([&] { return signal.test() && task.runs > 0; }));
    e->cancel(task);
    e->pending_ended();
    return runs == 0 && rests;
  }));
}

TEST(parking, a_thread_that_looks_runs_what_is_submitted_as_signalled) {
  running e(polling::event);
  mailbox box(*e);
  starts(*e);
  counted_task task;
  e->submit_signalled(task);
  e->look_now();
  EXPECT_GT(task.runs, 0);
  e->cancel(task);
  e->pending_ended();
}

TEST(parking, an_ltask_that_looks_is_followed_by_another_round) {
  struct looking_task : ltask {
    explicit looking_task(engine& where) : ltask("looking", &looking_task::look), of(where) {}
    static ltask_result look(ltask& self) noexcept {
      auto& mine = static_cast<looking_task&>(self);
      mine.of.submit_signalled(mine.found);
      mine.of.look_now();
      return ltask_result::done;
    }
    engine& of;
    counted_task found;
  };
  running e(polling::explicit_);
  looking_task task(*e);
  e->submit_signalled(task);
  e->look_now();
  EXPECT_GT(task.found.runs, 0);
  e->cancel(task.found);
}

TEST(parking, what_comes_then_is_taken_by_the_event_thread) {
  running e(polling::event);
  mailbox box(*e);
  for (int i = 0; i < 10; ++i) {
    starts(*e);
    completion c;
    box.post(c);
    ASSERT_TRUE(eventually([&] { return c.test(); }));  // no thread of the program calls in
    e->pending_ended();
  }
}

TEST(parking, a_thread_that_waits_is_not_rung_for) {
  running e(polling::event, waiting_policy::busy);
  mailbox box(*e);
  needs_parking(e);
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(eventually([&] {  // once without an event thread that was awake just then
    starts(*e);
    const int rings = box.doorbells.load();
    const auto rounds = e->statistics().explicit_rounds;
    completion c;
    std::jthread other([&] {
      while (e->statistics().explicit_rounds < rounds + 100) std::this_thread::yield();
      box.post(c);
    });
    e->wait(c);
    e->pending_ended();
    return box.doorbells.load() == rings;
  }));
}

TEST(parking, what_a_wait_leaves_behind_is_watched) {
  running e(polling::event);
  mailbox box(*e);
  for (int i = 0; i < 10; ++i) {
    starts(*e);
    e->pending_started();
    completion waited_for, left_alone;
    box.post(waited_for);
    e->wait(waited_for);
    e->pending_ended();
    box.post(left_alone);
    ASSERT_TRUE(eventually([&] { return left_alone.test(); }));
    e->pending_ended();
  }
}

TEST(parking, threads_that_sleep_in_a_wait_are_served) {
  running e(polling::event, waiting_policy::block);
  mailbox box(*e);
  for (int i = 0; i < 10; ++i) {
    starts(*e);
    completion one, two;
    std::jthread first([&] { e->wait(one); });
    std::jthread second([&] { e->wait(two); });
    pass_time(i % 3);
    box.post(two);
    second.join();
    box.post(one);
    first.join();
    e->pending_ended();
  }
}

TEST(parking, a_message_wakes_only_the_thread_that_sleeps_in_a_wait_for_it) {
  running e(polling::event, waiting_policy::block);
  mailbox box(*e);
  needs_parking(e);
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(eventually([&] {  // once without a tick, or a look that something before has caused
    starts(*e);
    pass_time(5);
    const auto before = e->statistics();
    completion c;
    std::jthread waiting([&] { e->wait(c); });
    const bool sleeps =
        eventually([&] { return e->statistics().kernel_sleeps > before.kernel_sleeps; });
    pass_time(1);
    box.post(c);
    waiting.join();
    const auto after = e->statistics();
    e->pending_ended();
    return sleeps && after.event_sleeps == before.event_sleeps &&
           after.event_looks == before.event_looks;
  }));
}

TEST(parking, one_thread_sleeps_beside_the_parked_one_and_others_are_served_too) {
  running e(polling::event, waiting_policy::block);
  mailbox box(*e);
  for (int i = 0; i < 20; ++i) {
    starts(*e);
    completion first, second, third;
    std::jthread one([&] { e->wait(first); });
    std::jthread two([&] { e->wait(second); });
    std::jthread three([&] { e->wait(third); });
    pass_time(i % 3);
    for (auto* const c : {&third, &first, &second}) box.post(*c);
    e->pending_ended();
  }
}

TEST(parking, a_thread_that_sleeps_beside_the_parked_one_is_served_when_that_is_stopped) {
  running e(polling::event, waiting_policy::block);
  mailbox box(*e);
  for (const auto next : {polling::off, polling::event, polling::timer, polling::off}) {
    e->points().choose(polling::event);
    needs_parking(e);
    if (IsSkipped() || HasFatalFailure()) return;
    starts(*e);
    const auto before = e->statistics().kernel_sleeps;
    completion c;
    std::jthread waiting([&] { e->wait(c); });
    EXPECT_TRUE(eventually([&] { return e->statistics().kernel_sleeps > before; }));
    pass_time(1);
    e->points().choose(next);
    pass_time(1);
    box.post(c);
    waiting.join();
    e->pending_ended();
  }
}

/// One thread stops in its body, as if it had lost its processor or a debugger had stopped it.
struct trap : ltask {
  explicit trap(std::atomic<std::thread::id>& whom) : ltask("trap", &run), victim(whom) {}
  ~trap() { release.store(true); }
  static ltask_result run(ltask& self) noexcept {
    auto& me = static_cast<trap&>(self);
    if (std::this_thread::get_id() != me.victim.load()) return ltask_result::idle;
    me.caught.store(true);
    while (!me.release.load()) pass_time(1);
    return ltask_result::idle;
  }
  std::atomic<std::thread::id>& victim;
  std::atomic<bool> caught{false}, release{false};
};

TEST(parking, what_is_submitted_runs_although_the_thread_that_waits_has_stopped) {
  struct shot : ltask {
    shot() : ltask("shot", &run, ltask_kind::one_shot) {}
    static ltask_result run(ltask& self) noexcept {
      static_cast<shot&>(self).ran.store(true);
      return ltask_result::done;
    }
    std::atomic<bool> ran{false};
  };
  running e(polling::event, waiting_policy::busy);
  mailbox box(*e);
  const auto& places = e.machine->places();
  if (places.size() < 2) GTEST_SKIP() << "one queue: the thread that stops holds its mask";
  std::atomic<std::thread::id> victim;
  std::deque<trap> traps;
  for (const auto& place : places)
    if (place.id != topology::place_id::root) e->submit_at(place.id, traps.emplace_back(victim));
  for (int i = 0; i < 10 && !HasFailure(); ++i) {
    starts(*e);
    completion c;
    std::jthread waiting([&] { e->wait(c); });
    pass_time(5);  // it has polled for long enough to be counted on
    victim.store(waiting.get_id());
    ASSERT_TRUE(eventually(
        [&] { return std::ranges::any_of(traps, [](const trap& t) { return t.caught.load(); }); }));
    shot task;
    e->submit(task);
    EXPECT_TRUE(eventually([&] { return task.ran.load(); }));
    victim.store({});
    for (auto& t : traps) t.release.store(true);
    box.post(c);
    waiting.join();
    for (auto& t : traps) {
      t.caught.store(false);
      t.release.store(false);
    }
    e->pending_ended();
  }
  for (auto& t : traps) e->cancel(t);
}

TEST(parking, ends_where_things_start_in_close_succession) {
  constexpr auto close = std::chrono::microseconds(10);
  running e(polling::event);
  mailbox box(*e);
  needs_parking(e);
  if (IsSkipped() || HasFatalFailure()) return;
  starts(*e);
  const auto looks = e->statistics().event_looks;
  bool were_close = false;
  const bool looked = eventually([&] {
    using clock = std::chrono::steady_clock;
    auto last = clock::now();
    clock::duration longest{};
    for (int i = 0; i < 100; ++i) {
      attend(*e);  // disarms the sources, and arms them again for what is pending
      const auto now = clock::now();
      longest = std::max(longest, now - std::exchange(last, now));
    }
    were_close = were_close || longest < close;
    return e->statistics().event_looks > looks;
  });
  e->pending_ended();
  if (!looked && !were_close)
    GTEST_SKIP() << "this machine never made 100 waits in close succession";
  EXPECT_TRUE(looked);
}

/// An engine of a job whose ranks compute on every processor.
struct on_full_machine : running {
  explicit on_full_machine(waiting_policy waits = waiting_policy::adaptive)
      : running(polling::event, waits, {}, processors()) {}
  static int processors() { return topology::machine::read().value()->node_processors(); }
};

TEST(parking, what_can_wait_wakes_no_thread_on_a_full_machine) {
  on_full_machine e;
  mailbox box(*e);
  needs_parking(e);
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(eventually([&] {  // once without an event thread that was awake just then
    starts(*e);
    const int rings = box.doorbells.load();
    completion can_wait, cannot;
    box.post(can_wait, true);
    pass_time(5);
    const bool waited = !can_wait.test() && box.doorbells.load() == rings;
    box.post(cannot);
    EXPECT_TRUE(eventually([&] { return can_wait.test() && cannot.test(); }));
    e->pending_ended();
    return waited;
  }));
}

TEST(parking, what_is_relied_on_is_rung_for_on_a_full_machine) {
  on_full_machine e;
  mailbox box(*e);
  needs_parking(e);
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(eventually([&] {  // once without an event thread that was awake just then
    starts(*e);
    e->rely();
    const int rings = box.doorbells.load();
    completion can_wait;
    box.post(can_wait, true);
    EXPECT_TRUE(eventually([&] { return can_wait.test(); }));
    e->rely_no_more();
    e->pending_ended();
    return box.doorbells.load() > rings;
  }));
}

TEST(parking, threads_that_sleep_are_served_with_what_can_wait) {
  on_full_machine e(waiting_policy::block);
  mailbox box(*e);
  for (int i = 0; i < 20; ++i) {
    if (i % 2 == 0) starts(*e);
    completion one, two;
    std::jthread first([&] { e->wait(one); });
    std::jthread second([&] { e->wait(two); });
    pass_time(i % 3);
    box.post(two, true);
    second.join();
    box.post(one, true);
    first.join();
    if (i % 2 == 0) e->pending_ended();
  }
}

}  // namespace
}  // namespace headway::progress::testing::parking_tests
