// Event threads take turns: one works at a time, and hands over to the one that has rested longest.

#include "progress/background/turn_roster.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "fixture.hpp"
#include "mailbox.hpp"
#include "progress/background/polling_points.hpp"

namespace headway::progress::testing::turn_roster_tests {
namespace {

TEST(turn_roster, calls_the_seat_that_has_rested_longest) {
  turn_roster turns;
  EXPECT_EQ(turns.take_rested(), std::nullopt);
  for (const std::size_t seat : {3u, 1u, 2u}) turns.rest(seat);
  EXPECT_EQ(turns.take_rested(), 3u);
  turns.rest(3);
  EXPECT_EQ(turns.take_rested(), 1u);
  EXPECT_EQ(turns.take_rested(), 2u);
  EXPECT_EQ(turns.take_rested(), 3u);
  EXPECT_EQ(turns.take_rested(), std::nullopt);
}

TEST(turn_roster, keeps_a_call_that_comes_before_its_thread_waits) {
  turn_roster turns;
  turns.call(4);
  turns.await_turn(4);  // returns
  turns.call(4);
  turns.pause(4, base::no_deadline);  // likewise
}

/// Run by ThreadSanitizer too: `work` is no atomic, the roster alone hands it on.
TEST(turn_roster, hands_the_work_from_thread_to_thread_and_ends_all_of_them) {
  constexpr int turns_each = 2'000;
  turn_roster turns;
  int work = 0;
  std::atomic<bool> over{false};
  const auto take_part = [&](std::size_t seat) {
    for (;;) {
      turns.rest(seat);
      turns.await_turn(seat);
      if (over.load(std::memory_order_relaxed)) return;
      if (++work == turns_each) {
        over.store(true, std::memory_order_relaxed);
        return turns.call_all();
      }
      std::optional<std::size_t> next;
      while (!(next = turns.take_rested())) base::relax();
      turns.call(*next);
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t seat = 1; seat < turn_roster::seat_count; ++seat)
    threads.emplace_back([&, seat] { take_part(seat); });
  std::optional<std::size_t> first;
  while (!(first = turns.take_rested())) base::relax();
  turns.call(*first);
  threads.clear();
  EXPECT_EQ(work, turns_each);
}

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
settings without_weight() { return {.points = polling::event, .greatest_weight = false}; }

TEST(event_threads, takes_turns_beside_computing_threads_and_serves_those_that_wait) {
  running e(without_weight());
  mailbox box(*e);
  e->pending_started();
  {
    computing_threads beside;
    EXPECT_TRUE(eventually([&] {
      for (int i = 0; i < 20; ++i) {
        completion c;
        std::jthread sender([&] { box.post(c); });
        e->wait(c);
      }
      return e->statistics().event_turns >= 2;
    }));
  }
  e->pending_ended();
}

TEST(event_threads, leaves_waiting_threads_to_their_own_polls_where_no_thread_computes) {
  running e(without_weight());
  mailbox box(*e);
  for (int i = 0; i < 20; ++i) {
    completion c;
    box.post(c);
    e->wait(c);
  }
  EXPECT_EQ(box.doorbells, 0);
}

TEST(event_threads, is_quiet_when_nothing_is_pending_and_ends_with_the_engine) {
  running e(without_weight());
  mailbox box(*e);
  computing_threads beside;
  e->pending_started();
  EXPECT_TRUE(eventually([&] { return e->statistics().event_turns >= 1; }));
  e->pending_ended();
  EXPECT_TRUE(eventually([&] {
    const auto before = e->statistics();
    pass_time(250);
    const auto now = e->statistics();
    return now.event_looks == before.event_looks && now.event_sleeps == before.event_sleeps &&
           now.background_rounds == before.background_rounds;
  }));
}

}  // namespace
}  // namespace headway::progress::testing::turn_roster_tests
