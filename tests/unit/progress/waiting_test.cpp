#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <ctime>
#include <deque>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "fixture.hpp"
#include "mailbox.hpp"
#include "progress/scheduling.hpp"

namespace headway::progress::testing {
namespace {

constexpr std::uint64_t ms = 1'000'000;

double processor_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

struct setting {
  polling points;
  waiting_policy waits;
};

std::string name_of(const ::testing::TestParamInfo<setting>& one) {
  static constexpr std::array points{"off", "explicit", "timer", "idle", "event", "auto"};
  static constexpr std::array policies{"adaptive", "fixed", "busy", "block"};
  return std::string(points[static_cast<std::size_t>(one.param.points)]) + "_" +
         policies[static_cast<std::size_t>(one.param.waits)];
}

class waits : public ::testing::TestWithParam<setting> {};

TEST_P(waits, return_at_once_when_complete) {
  running e(GetParam().points, GetParam().waits);
  completion c;
  c.complete();
  e->wait(c);
  EXPECT_TRUE(c.test());
}

TEST_P(waits, return_to_all_of_several_threads_that_wait_for_one_completion) {
  running e(GetParam().points, GetParam().waits);
  mailbox box(*e);
  for (int round = 0; round < 3; ++round) {
    shared_completion c;
    completion never;
    std::atomic<int> returned{0};
    std::vector<std::jthread> waiters;
    for (int w = 0; w < 4; ++w)
      waiters.emplace_back([&, w] {
        std::array<completion*, 2> any{w == 3 ? &never : nullptr, &c};
        if (w == 0) e->wait(c);
        else EXPECT_EQ(e->wait_any(any), 1u);
        ++returned;
      });
    pass_time(10);
    EXPECT_EQ(returned, 0);
    box.post(c);
    waiters.clear();
    EXPECT_EQ(returned, 4);
  }
}

TEST_P(waits, for_any_end_at_their_deadline) {
  running e(GetParam().points, GetParam().waits);
  completion one, other;
  std::array<completion*, 3> any{&one, nullptr, &other};
  EXPECT_EQ(e->wait_any_until(any, base::now_ns() + 5 * ms), std::nullopt);
  other.complete();
  EXPECT_EQ(e->wait_any_until(any, base::now_ns() + 5 * ms), std::optional<std::size_t>(2));
}

TEST_P(waits, return_when_a_letter_comes) {
  running e(GetParam().points, GetParam().waits);
  mailbox box(*e);
  for (const int delay : {0, 1, 30}) {
    completion c;
    std::jthread sender([&] {
      pass_time(delay);
      box.post(c);
    });
    e->wait(c);
    EXPECT_TRUE(c.test());
  }
}

TEST_P(waits, return_when_another_thread_completes) {
  running e(GetParam().points, GetParam().waits);
  mailbox box(*e);
  for (const int delay : {0, 1, 30}) {
    completion c;
    std::jthread sender([&] {
      pass_time(delay);
      c.complete();
    });
    e->wait(c);
  }
}

TEST_P(waits, end_at_their_deadline) {
  running e(GetParam().points, GetParam().waits);
  mailbox box(*e);
  completion never;
  const auto until = base::now_ns() + 20 * ms;
  EXPECT_FALSE(e->wait_until(never, until));
  EXPECT_GE(base::now_ns(), until);
  EXPECT_FALSE(e->wait_until(never, 0));
}

TEST_P(waits, of_any_return_the_one_that_came) {
  running e(GetParam().points, GetParam().waits);
  mailbox box(*e);
  std::array<completion, 3> c;
  std::array<completion*, 4> any{&c[0], nullptr, &c[1], &c[2]};
  std::jthread sender([&] {
    pass_time(5);
    box.post(c[1]);
  });
  EXPECT_EQ(e->wait_any(any), 2u);
  c[1].reset();
  box.post(c[2]);
  EXPECT_EQ(e->wait_any(any), 3u);
  box.post(c[0]);  // nothing of the earlier waits is left in it
  e->wait(c[0]);
}

TEST_P(waits, of_many_threads_all_end) {
  constexpr int thread_count = 8, letters = 50;
  running e(GetParam().points, GetParam().waits);
  mailbox box(*e);
  std::array<std::atomic<completion*>, thread_count> open{};
  std::vector<std::jthread> threads;
  for (int t = 0; t < thread_count; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < letters; ++i) {
        completion c;
        open[static_cast<std::size_t>(t)] = &c;
        e->wait(c);
      }
    });
  for (int sent = 0; sent < thread_count * letters;)
    for (auto& slot : open)
      if (auto* c = slot.exchange(nullptr)) {
        box.post(*c);
        ++sent;
      }
}

INSTANTIATE_TEST_SUITE_P(all, waits,
                         ::testing::Values(setting{polling::off, waiting_policy::adaptive},
                                           setting{polling::off, waiting_policy::block},
                                           setting{polling::automatic, waiting_policy::adaptive},
                                           setting{polling::automatic, waiting_policy::fixed},
                                           setting{polling::automatic, waiting_policy::busy},
                                           setting{polling::automatic, waiting_policy::block},
                                           setting{polling::timer, waiting_policy::adaptive},
                                           setting{polling::idle, waiting_policy::adaptive}),
                         name_of);

TEST(waiting, costs_hardly_any_processor_time_when_long) {
  running e(polling::automatic);
  mailbox box(*e);
  completion c;
  e->pending_started();
  const double before = processor_seconds();
  EXPECT_FALSE(e->wait_until(c, base::now_ns() + 1000 * ms));
  EXPECT_LT(processor_seconds() - before, 0.1);
  EXPECT_GT(e->statistics().guard_sleeps, 0u);
  e->pending_ended();
}

TEST(waiting, of_a_lone_thread_sleeps_on_the_sources_itself) {
  // Nobody else is there who could sleep on them; with an event thread the waiter asks it to leave,
  // which takes longer than it waits when computing threads keep both from their processor.
  running e(polling::off);
  mailbox box(*e);
  for (int i = 0; i < 5; ++i) {
    completion c;
    e->pending_started();
    std::jthread sender([&] {
      pass_time(20);
      box.post(c);
    });
    e->wait(c);
    e->pending_ended();
  }
  EXPECT_GE(e->statistics().guard_sleeps, 5u);
  EXPECT_EQ(e->statistics().sleeps, 0u);
}

TEST(waiting, hands_the_lead_to_the_thread_that_it_woke) {
  // Without an event thread, which would find the message if the leader lost its processor.
  running e(polling::off, waiting_policy::busy);
  mailbox box(*e);
  completion mine, other;
  std::jthread leader([&] { e->wait(mine); });
  ASSERT_TRUE(eventually([&] { return e->statistics().explicit_rounds > 100; }));
  std::jthread follower([&] { e->wait(other); });
  ASSERT_TRUE(eventually([&] { return e->statistics().sleeps > 0; }));
  box.post(other);
  follower.join();
  ASSERT_TRUE(eventually([&] { return e->statistics().hand_overs == 1; }));
  box.post(mine);  // the leader sleeps now, but not without a time limit
}

TEST(waiting, yields_with_more_processes_than_processors_and_then_sleeps) {
  running e(polling::automatic, waiting_policy::adaptive, {}, 1000);
  mailbox box(*e);
  completion c;
  const auto slept = [&] {  // as the guard, or behind the event thread if that is slow to leave
    const auto s = e->statistics();
    return s.guard_sleeps + s.sleeps > 0;
  };
  std::jthread sender([&] {
    EXPECT_TRUE(eventually(slept));
    box.post(c);
  });
  e->wait(c);
}

TEST(waiting, sees_a_crowd_by_what_it_loses_wherever_it_is_confined_to) {
  // Two threads on one processor, of however many: nobody else in the machine tells.
  running e(polling::off, waiting_policy::busy);
  mailbox box(*e);
  std::jthread both([&] {
    bind_thread(0, {sched_getcpu()});
    std::jthread load([](const std::stop_token& stop) {
      while (!stop.stop_requested()) base::relax();
    });
    completion never;
    while (e->statistics().delays == 0) {
      if (e->wait_until(never, base::now_ns() + 100 * ms)) break;
    }
  });
  EXPECT_TRUE(eventually([&] { return e->statistics().delays > 0; }));
  completion c;
  box.post(c);
  e->wait(c);
}

TEST(waiting, gives_back_the_slices_that_the_program_had) {
  {
    short_slices mine;
    mine.ask();
  }
  const auto slice_of_this_thread = [] {
    struct {
      std::uint32_t size = 48, policy = 0;
      std::uint64_t flags = 0;
      std::int32_t nice = 0;
      std::uint32_t priority = 0;
      std::uint64_t runtime = 0, deadline = 0, period = 0;
    } now;
    EXPECT_EQ(syscall(SYS_sched_getattr, 0, &now, sizeof now, 0u), 0);
    return now.runtime;
  };
  const auto before = slice_of_this_thread();
  {
    short_slices mine;
    mine.ask();
    if (slice_of_this_thread() == before) GTEST_SKIP() << "this kernel knows no slices";
  }
  EXPECT_EQ(slice_of_this_thread(), before);
}

}  // namespace
}  // namespace headway::progress::testing
