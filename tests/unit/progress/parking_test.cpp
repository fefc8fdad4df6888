// The event thread parks on event sources that are not armed (progress/background/parking.hpp).

#include <gtest/gtest.h>

#include <thread>

#include "fixture.hpp"
#include "mailbox.hpp"

namespace headway::progress::testing {
namespace {

/// One short wait, which disarms the sources while it polls.
void attend(engine& e) {
  completion never;
  static_cast<void>(e.wait_until(never, 0));
}

/// Starts something while the event thread is parked: that arms the sources.
bool starts_while_parked(engine& e) {
  return eventually([&] {
    const auto before = e.statistics().armings;
    e.pending_started();
    if (e.statistics().armings != before) return true;
    e.pending_ended();
    attend(e);
    pass_time(5);
    return false;
  });
}

TEST(parking, what_starts_wakes_no_thread) {
  running e(polling::event);
  mailbox box(*e);
  EXPECT_TRUE(eventually([&] {  // once without a look that something before it has caused
    if (!starts_while_parked(*e)) return false;
    const auto before = e->statistics();
    pass_time(5);
    const auto after = e->statistics();
    e->pending_ended();
    return after.event_looks == before.event_looks && after.event_sleeps == before.event_sleeps;
  }));
}

TEST(parking, what_comes_then_is_taken_by_the_event_thread) {
  running e(polling::event);
  mailbox box(*e);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(starts_while_parked(*e));
    completion c;
    box.post(c);
    ASSERT_TRUE(eventually([&] { return c.test(); }));  // no thread of the program calls in
    e->pending_ended();
  }
}

TEST(parking, a_thread_that_waits_is_not_rung_for) {
  running e(polling::event, waiting_policy::busy);
  mailbox box(*e);
  EXPECT_TRUE(eventually([&] {  // once without an event thread that was awake just then
    if (!starts_while_parked(*e)) return false;
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
    ASSERT_TRUE(starts_while_parked(*e));
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
    ASSERT_TRUE(starts_while_parked(*e));
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

TEST(parking, ends_where_things_start_in_close_succession) {
  running e(polling::event);
  mailbox box(*e);
  ASSERT_TRUE(starts_while_parked(*e));
  const auto looks = e->statistics().event_looks;
  EXPECT_TRUE(eventually([&] {
    for (int i = 0; i < 100; ++i) {
      attend(*e);  // disarms the sources, and arms them again for what is pending
    }
    return e->statistics().event_looks > looks;
  }));
  e->pending_ended();
}

}  // namespace
}  // namespace headway::progress::testing
