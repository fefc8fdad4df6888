// The rules of docs/architecture.md, section "Which threads do the work". ltask_test.cpp tests that
// an ltask never waits.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "fixture.hpp"
#include "mailbox.hpp"
#include "progress/background/polling_points.hpp"

namespace headway::progress::testing::rules_tests {
namespace {

using base::ms;

/// The rounds of all background threads.
std::uint64_t background_activity(engine& e) {
  const auto s = e.statistics();
  return s.background_rounds + s.event_looks + s.event_sleeps;
}

/// A thread that computes and never calls the library.
class computation {
 public:
  computation()
      : thread_([](const std::stop_token& stop) {
          while (!stop.stop_requested()) base::relax();
        }) {}

 private:
  std::jthread thread_;
};

class with_background : public ::testing::TestWithParam<polling> {};

// Rule 1. The count of quiet sleeps shows that the threads exist and that no timer wakes them.
TEST_P(with_background, is_quiet_when_nothing_is_pending) {
  running e(GetParam());
  mailbox box(*e);
  e->pending_started();
  pass_time(5);
  e->pending_ended();
  ASSERT_TRUE(eventually([&] { return e->statistics().quiet_sleeps >= 1; }));
  EXPECT_TRUE(eventually([&] {  // the last of several threads may take a while to go to sleep
    const auto before = background_activity(*e);
    pass_time(250);
    return background_activity(*e) == before;
  }));
}

TEST_P(with_background, wakes_up_when_something_is_pending) {
  running e(GetParam());
  mailbox box(*e);
  for (int i = 0; i < 3; ++i) {
    completion c;
    e->pending_started();
    box.post(c);
    EXPECT_TRUE(eventually([&] { return c.test(); }));  // no thread of the program calls in
    e->pending_ended();
    pass_time(20);
  }
}

TEST_P(with_background, runs_a_one_shot_that_was_submitted_while_all_was_quiet) {
  struct shot : ltask {
    shot() : ltask("shot", &run, ltask_kind::one_shot) {}
    static ltask_result run(ltask& self) noexcept {
      static_cast<shot&>(self).ran = true;
      return ltask_result::done;
    }
    std::atomic<bool> ran{false};
  };
  running e(GetParam());
  pass_time(20);
  shot task;
  e->submit(task);
  EXPECT_TRUE(eventually([&] { return task.ran.load(); }));
  shot here;
  e->submit_here(here);
  EXPECT_TRUE(eventually([&] { return here.ran.load(); }));
}

// A waiting thread polls; background threads look from time to time, or sleep parked, and leave its
// queue alone. A waiting thread without a processor does not attend: what counts is that several
// looks or sleeps in a row, of whatever length, came without a background round.
TEST_P(with_background, leaves_an_attended_queue_alone) {
  constexpr std::uint64_t looks_in_a_row = 4;
  const auto looks = [](const engine_statistics& s) {
    return s.attended_looks + s.event_looks + s.event_sleeps;
  };
  running e(GetParam(), waiting_policy::busy);
  mailbox box(*e);
  completion c;
  e->pending_started();
  std::jthread waiter([&] { e->wait(c); });
  ASSERT_TRUE(eventually([&] { return e->statistics().explicit_rounds > 1000; }));
  auto since = e->statistics();
  EXPECT_TRUE(eventually([&] {
    const auto now = e->statistics();
    if (now.background_rounds != since.background_rounds) since = now;
    return looks(now) - looks(since) >= looks_in_a_row;
  }));
  box.post(c);
  waiter.join();
  e->pending_ended();
}

// It may have gone to sleep while the machine gave the polling thread no processor, and is rung
// until it has one itself: what counts is again that several looks in a row came without a ring.
TEST(event_thread, is_not_rung_for_letters_that_a_polling_thread_takes) {
  constexpr std::uint64_t looks_in_a_row = 4;
  running e(polling::automatic, waiting_policy::busy);
  mailbox box(*e);
  e->pending_started();
  int rung = 0;
  std::uint64_t since = 0, looks = 0;
  const auto end = std::chrono::steady_clock::now() + patience;
  while (looks < since + looks_in_a_row && std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 100; ++i) {
      completion c;
      box.post(c);
      e->wait(c);
    }
    looks = e->statistics().event_looks;
    if (box.doorbells == rung) continue;
    rung = box.doorbells;
    since = looks;
  }
  EXPECT_GE(looks, since + looks_in_a_row);
  e->pending_ended();
}

// Where the polling thread loses its processor, the event thread looks more often for a while: what
// counts is that a quarter of a second comes without that.
TEST(event_thread, looks_about_once_a_millisecond_beside_a_thread_that_polls) {
  constexpr std::uint64_t period_ms = 250;
  running e(polling::event);
  mailbox box(*e);
  e->pending_started();
  const auto looks_in_a_period = [&] {
    const auto before = e->statistics().event_looks;
    const auto end = base::machine_now_ns() + period_ms * ms;
    while (base::machine_now_ns() < end) {
      e->pending_started();  // so often that it does not pay to sleep on events
      static_cast<void>(e->poll());
      e->pending_ended();
    }
    return e->statistics().event_looks - before;
  };
  EXPECT_TRUE(eventually([&] { return looks_in_a_period() < 2 * period_ms; }));
  e->pending_ended();
}

// The letter wakes it. What counts is that several looks come during a round, and no sleep on
// events between them.
TEST(event_thread, does_not_take_over_from_a_thread_that_is_in_a_long_round) {
  struct long_round : ltask {
    long_round(engine& by, mailbox& with) : ltask("long round", &run), of(by), box(with) {}
    static ltask_result run(ltask& self) noexcept {
      auto& me = static_cast<long_round&>(self);
      if (std::this_thread::get_id() != me.thread) return ltask_result::idle;
      const auto before = me.of.statistics();
      me.box.post(me.letter);
      const auto end = base::machine_now_ns() + 3 * ms / 2;
      auto now = before;
      while (now.event_looks - before.event_looks < 3 && base::machine_now_ns() < end)
        now = me.of.statistics();
      me.was_left_alone =
          now.event_looks - before.event_looks >= 3 && now.event_sleeps == before.event_sleeps;
      return ltask_result::done;
    }
    engine& of;
    mailbox& box;
    const std::thread::id thread = std::this_thread::get_id();
    completion letter;
    bool was_left_alone = false;
  };
  running e(polling::event);
  mailbox box(*e);
  e->pending_started();
  EXPECT_TRUE(eventually([&] {
    long_round round(*e, box);
    e->submit(round);
    pass_time(3);  // the event thread sleeps on events
    static_cast<void>(e->poll());
    e->wait(round.letter);
    return round.was_left_alone;
  }));
  e->pending_ended();
}

TEST(event_thread, comes_back_when_a_queue_is_left_unattended) {
  running e(polling::automatic, waiting_policy::busy);
  mailbox box(*e);
  e->pending_started();
  for (int i = 0; i < 3; ++i) {
    completion c, later;
    box.post(c);
    e->wait(c);
    box.post(later);
    EXPECT_TRUE(eventually([&] { return later.test(); }));
  }
  e->pending_ended();
}

// Rule 3.
TEST(event_thread, sleeps_in_the_kernel_while_something_is_pending) {
  running e(polling::automatic);
  mailbox box(*e);
  e->pending_started();
  ASSERT_TRUE(eventually([&] { return e->statistics().event_sleeps > 0; }));
  pass_time(20);
  const auto before = e->statistics();
  pass_time(300);
  const auto after = e->statistics();
  EXPECT_LT(after.event_sleeps - before.event_sleeps, 50u);  // one a tick, were it undisturbed
  EXPECT_LT(after.background_rounds - before.background_rounds, 100u);
  e->pending_ended();
}

TEST(event_thread, polls_at_a_period_for_a_source_that_cannot_wake_it) {
  running e(polling::automatic);
  mailbox box(*e, false);
  e->pending_started();
  pass_time(20);
  completion c;
  box.post(c);
  EXPECT_TRUE(eventually([&] { return c.test(); }));
  e->pending_ended();
}

// Rule 4. Idle pollers lose the processor to computing threads, also under the mask; letters go on.
TEST(idle_pollers, do_not_stall_others_when_they_lose_the_processor) {
  running e(polling::idle);
  mailbox box(*e);
  e->pending_started();
  std::array<computation, 16> load;
  const auto end = base::machine_now_ns() + 1000 * ms;
  int letters = 0;
  while (base::machine_now_ns() < end || letters < 20) {
    completion c;
    box.post(c);
    ASSERT_TRUE(e->wait_until(c, base::machine_now_ns() + 20'000 * ms));
    ++letters;
  }
  e->pending_ended();
}

TEST(event_thread, makes_progress_beside_more_computing_threads_than_cores) {
  running e(polling::automatic);
  mailbox box(*e);
  e->pending_started();
  std::array<computation, 16> load;
  for (int i = 0; i < 20; ++i) {
    completion c;
    box.post(c);
    ASSERT_TRUE(eventually([&] { return c.test(); }));
  }
  e->pending_ended();
}

// Rule 6. The thread of the queue has ended; any other thread finds the ltask there.
TEST_P(with_background, polls_queues_whose_owner_computes) {
  struct leaf_task : ltask {
    leaf_task() : ltask("leaf", &run) {}
    static ltask_result run(ltask& self) noexcept {
      ++static_cast<leaf_task&>(self).runs;
      return ltask_result::idle;
    }
    std::atomic<int> runs{0};
  };
  running e(GetParam(), waiting_policy::adaptive, "package:2 core:4 pu:1");
  mailbox box(*e);
  std::array<leaf_task, 8> tasks;
  e->pending_started();
  for (auto& t : tasks) e->submit_here(t);
  computation here;
  for (auto& t : tasks) EXPECT_TRUE(eventually([&] { return t.runs > 0; }));
  for (auto& t : tasks) e->cancel(t);
  e->pending_ended();
}

// Rule 7.
TEST(polling_points, can_be_turned_on_and_off_at_run_time) {
  running e(polling::off);
  mailbox box(*e);
  e->pending_started();
  for (const auto points : {polling::event, polling::off, polling::timer, polling::explicit_,
                            polling::idle, polling::off, polling::automatic}) {
    e->points().choose(points);
    const bool background = points != polling::off && points != polling::explicit_;
    completion c;
    box.post(c);
    if (background) {
      EXPECT_TRUE(eventually([&] { return c.test(); }));
    } else {
      const auto rounds = e->statistics().background_rounds;
      pass_time(30);
      EXPECT_FALSE(c.test());
      EXPECT_EQ(e->statistics().background_rounds, rounds);
      e->wait(c);
    }
  }
  e->pending_ended();
}

TEST(polling_points, may_go_while_threads_sleep_on_them) {
  running e(polling::automatic);
  mailbox box(*e);
  completion a, b;
  std::jthread first([&] { e->wait(a); });
  std::jthread second([&] { e->wait(b); });
  EXPECT_TRUE(eventually([&] {  // one in the kernel and one on its futex, or both on their futexes
    const auto now = e->statistics();
    return now.sleeps + now.kernel_sleeps >= 2;
  }));
  e->points().choose(polling::off);
  box.post(b);
  second.join();
  box.post(a);
}

TEST(ticks, come_while_something_is_pending_and_cease) {
  running e(polling::automatic);
  std::atomic<int> count{0};
  const auto tick = +[](void* n) noexcept { ++*static_cast<std::atomic<int>*>(n); };
  e->add_tick(tick, &count);
  e->pending_started();
  EXPECT_TRUE(eventually([&] { return count >= 3; }));
  e->pending_ended();
  e->remove_tick(tick, &count);
  const int at_the_end = count;
  e->pending_started();
  pass_time(250);
  EXPECT_EQ(count, at_the_end);
  e->pending_ended();
}

TEST(ticks, come_while_every_thread_sleeps_in_a_wait) {
  for (const auto points : {polling::automatic, polling::off}) {
    running e(points);
    std::atomic<int> count{0};
    const auto tick = +[](void* n) noexcept { ++*static_cast<std::atomic<int>*>(n); };
    e->add_tick(tick, &count);
    completion c;
    std::jthread waiter([&] { e->wait(c); });
    EXPECT_TRUE(eventually([&] { return count >= 2; }));
    c.complete();
    waiter.join();
    e->remove_tick(tick, &count);
  }
}

std::string name_of(const ::testing::TestParamInfo<polling>& one) {
  static constexpr std::array points{"off", "explicit", "timer", "idle", "event", "auto"};
  return points[static_cast<std::size_t>(one.param)];
}

INSTANTIATE_TEST_SUITE_P(all, with_background,
                         ::testing::Values(polling::timer, polling::idle, polling::event,
                                           polling::automatic),
                         name_of);

}  // namespace
}  // namespace headway::progress::testing::rules_tests
