// More computing threads than processors, no privileges: a thread that waits awake polls, and the
// event thread polls when no thread waits.

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "fixture.hpp"
#include "mailbox.hpp"
#include "progress/background/event_nap.hpp"
#include "progress/os/scheduling_attributes.hpp"
#include "progress/waiting/thread_record.hpp"

namespace headway::progress::testing::beside_computing_tests {
namespace {

/// More threads that compute than there are processors, so that the engine notices.
class computing_threads {
 public:
  computing_threads() {
    const auto count = 2 * std::thread::hardware_concurrency() + 4;
    for (unsigned i = 0; i < count; ++i)
      threads_.emplace_back([](const std::stop_token& stop) {
        while (!stop.stop_requested()) base::relax();
      });
  }

 private:
  std::vector<std::jthread> threads_;
};

/// As for a user without privileges, also if the test runs as root.
settings without_weight(waiting_policy waits = waiting_policy::adaptive) {
  return {.points = polling::event, .waits = waits, .greatest_weight = false};
}

/// Another thread of the engine's process waits for a letter for so long, then posts it.
void wait_for_a_letter(running& e, mailbox& box, int milliseconds) {
  completion c;
  std::jthread sender([&] {
    pass_time(milliseconds);
    box.post(c);
  });
  e->wait(c);
}

TEST(event_thread, leaves_the_work_to_one_that_waits_awake) {
  running e(without_weight(waiting_policy::busy));
  mailbox box(*e);
  computing_threads beside;
  EXPECT_TRUE(eventually([&] {
    const auto before = e->statistics();
    wait_for_a_letter(e, box, 200);
    const auto now = e->statistics();
    // One each 20 ms. If it looked as at any other thread that polls, 50: each 4 ms.
    return now.event_sleeps == before.event_sleeps && now.event_looks - before.event_looks < 20;
  }));
}

TEST(event_thread, does_what_a_waiting_thread_leaves_behind) {
  running e(without_weight(waiting_policy::busy));
  mailbox box(*e);
  computing_threads beside;
  for (int i = 0; i < 5; ++i) {
    e->pending_started();
    wait_for_a_letter(e, box, 100);
    completion left;
    const int reaped = box.reaped;
    box.post(left);
    EXPECT_TRUE(eventually([&] { return box.reaped > reaped; })) << "the program does not poll";
    e->pending_ended();
  }
}

TEST(event_thread, has_its_nap_ended_by_a_thread_that_it_relied_on) {
  event_nap nap;
  base::atomic<std::uint32_t> stop{0};
  EXPECT_FALSE(nap.relies_on_waiting_thread());
  std::jthread sleeper([&] { nap.sleep_beside_waiting(stop, base::no_deadline); });
  EXPECT_TRUE(eventually([&] { return nap.relies_on_waiting_thread(); }));
  EXPECT_TRUE(eventually([&] {
    nap.end();
    return !nap.relies_on_waiting_thread();
  }));
}

TEST(event_thread, rings_for_no_thread_that_polls_where_none_computes) {
  running e(without_weight());
  mailbox box(*e);
  // Before its first sleep the event thread arms the sources for a moment, and a letter that comes
  // just then rings.
  ASSERT_TRUE(eventually([&] {
    const auto before = e->statistics();
    pass_time(5);
    const auto after = e->statistics();
    return before.parked_sleeps + before.quiet_sleeps > 0 &&
           after.parked_sleeps == before.parked_sleeps &&
           after.quiet_sleeps == before.quiet_sleeps && after.event_looks == before.event_looks;
  }));
  for (int i = 0; i < 20; ++i) {
    completion c;
    box.post(c);
    e->wait(c);
  }
  EXPECT_EQ(box.doorbells, 0);
}

TEST(event_thread, is_quiet_beside_computing_threads_when_nothing_is_pending) {
  running e(without_weight());
  mailbox box(*e);
  computing_threads beside;
  e->pending_started();
  EXPECT_TRUE(eventually([&] { return e->statistics().event_sleeps >= 1; }));
  e->pending_ended();
  EXPECT_TRUE(eventually([&] {
    const auto before = e->statistics();
    pass_time(250);
    const auto now = e->statistics();
    return now.event_looks == before.event_looks && now.event_sleeps == before.event_sleeps &&
           now.background_rounds == before.background_rounds;
  }));
}

/// Whether a thread that sleeps on a futex in a wait, because another one sleeps on the event
/// sources, has asked for a short slice.
bool sleeper_has_short_slice(running& e, mailbox& box) {
  completion first, second;
  const auto before = e->statistics();
  std::jthread leader([&] { e->wait(first); });
  EXPECT_TRUE(eventually([&] { return e->statistics().kernel_sleeps > before.kernel_sleeps; }));
  std::atomic<pid_t> id{0};
  std::jthread follower([&] {
    id = gettid();
    e->wait(second);
  });
  EXPECT_TRUE(eventually([&] { return e->statistics().sleeps > before.sleeps; }));
  pass_time(20);  // it has been counted just before it asks
  scheduling_attributes now;
  EXPECT_TRUE(get_attributes(id, now));
  box.post(second);
  box.post(first);
  return now.runtime == short_slice_ns;
}

// Without an event thread: beside that one a second thread could sleep on the event sources.
TEST(waiting_thread, asks_for_no_short_slice_while_several_of_its_process_are_woken) {
  running e(settings{.points = polling::off, .greatest_weight = false});
  mailbox box(*e);
  computing_threads beside;
  scheduling_attributes own;
  ASSERT_TRUE(get_attributes(0, own));
  if (own.runtime == 0) GTEST_SKIP() << "this kernel does not say what slice a thread has";
  EXPECT_TRUE(eventually([&] { return sleeper_has_short_slice(e, box); }));
  woken_threads.fetch_add(3, std::memory_order_relaxed);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(sleeper_has_short_slice(e, box));
  woken_threads.fetch_sub(3, std::memory_order_relaxed);
  EXPECT_TRUE(eventually([&] { return sleeper_has_short_slice(e, box); }));
}

}  // namespace
}  // namespace headway::progress::testing::beside_computing_tests
