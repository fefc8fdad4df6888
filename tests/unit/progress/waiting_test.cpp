#include <gtest/gtest.h>
#include <sched.h>
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
#include "progress/os/scheduling.hpp"

namespace headway::progress::testing::waiting_tests {
namespace {

using base::ms;

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
  EXPECT_EQ(e->wait_any_until(any, base::machine_now_ns() + 5 * ms), std::nullopt);
  other.complete();
  EXPECT_EQ(e->wait_any_until(any, base::machine_now_ns() + 5 * ms), std::optional<std::size_t>(2));
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
  const auto until = base::machine_now_ns() + 20 * ms;
  EXPECT_FALSE(e->wait_until(never, until));
  EXPECT_GE(base::machine_now_ns(), until);
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
  EXPECT_FALSE(e->wait_until(c, base::machine_now_ns() + 1000 * ms));
  EXPECT_LT(processor_seconds() - before, 0.1);
  const auto s = e->statistics();
  EXPECT_GT(s.kernel_sleeps + s.sleeps, 0u) << "in the kernel, if the event thread leaves in time";
  e->pending_ended();
}

TEST(waiting, of_a_lone_thread_sleeps_on_the_sources_itself) {
  // No other thread could sleep on them here. An event thread would be asked to leave, which takes
  // longer than the waiter allows when computing threads keep both from their processor.
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
  EXPECT_GE(e->statistics().kernel_sleeps, 5u);
  EXPECT_EQ(e->statistics().sleeps, 0u);
}

TEST(waiting, of_the_only_thread_that_waits_spins_through_a_long_one_among_short_ones) {
  running e(settings{.points = polling::off, .spin_ns = 10 * ms});
  mailbox box(*e);
  const auto wait_for = [&](int milliseconds) {
    completion c;
    e->pending_started();
    std::jthread sender([&] {
      pass_time(milliseconds);
      box.post(c);
    });
    e->wait(c);
    e->pending_ended();
  };
  const auto sleeps = [&] {
    for (int i = 0; i < 20; ++i) wait_for(1);
    const auto before = e->statistics().kernel_sleeps;
    wait_for(30);
    return e->statistics().kernel_sleeps > before;
  };
  EXPECT_TRUE(sleeps());
  e->expect_one_waiter(true);
  // While computing threads want the processor, it sleeps anyway.
  EXPECT_TRUE(eventually([&] { return !sleeps(); }));
}

TEST(waiting, stops_leading_for_the_thread_that_it_woke) {
  // Without an event thread, which would find the message if the wait leader lost its processor.
  running e(polling::off, waiting_policy::busy);
  mailbox box(*e);
  completion mine;
  const std::jthread polling([&] { e->wait(mine); });
  EXPECT_TRUE(eventually([&] { return e->statistics().explicit_rounds > 100; }));
  // Beside computing threads the follower may be awake when its message is found: once more then.
  const auto hands_over = [&] {
    completion other;
    const auto slept_before = e->statistics().sleeps;
    std::jthread follower([&] { e->wait(other); });
    const bool slept = eventually([&] { return e->statistics().sleeps > slept_before; });
    box.post(other);
    follower.join();
    return slept && e->statistics().hand_overs > 0;
  };
  EXPECT_TRUE(eventually(hands_over));
  box.post(mine);  // that thread sleeps now, but not without a time limit
}

TEST(waiting, does_not_poll_on_the_processor_of_the_thread_that_woke_it) {
  const auto all = processors_of_thread(0);
  if (all.size() < 2) GTEST_SKIP() << "one processor: nobody can post from another one";
  // As many processes as processors: none is to spare. Two threads share one of them.
  running e(polling::automatic, waiting_policy::adaptive, {}, static_cast<int>(all.size()));
  mailbox box(*e);
  struct waiter {
    completion letter;
    std::atomic<bool> waits{false};
  };
  std::array<waiter, 2> both;
  std::atomic<bool> over{false};
  std::atomic<int> answers{0};
  const auto wait_in_turn = [&](waiter& mine) {
    while (!over) {
      mine.letter.reset();
      e->pending_started();
      mine.waits = true;
      e->wait(mine.letter);
      e->pending_ended();
      ++answers;
    }
  };
  ASSERT_TRUE(bind_thread(0, {all[0]}));
  std::jthread first([&] { wait_in_turn(both[0]); }), second([&] { wait_in_turn(both[1]); });
  EXPECT_TRUE(bind_thread(0, {all[1]}));  // not ASSERT: the threads must be told that it is over
  const auto post_to = [&](waiter& next) {
    while (!next.waits.exchange(false)) base::relax();
    const int before = answers;
    box.post(next.letter);
    while (answers == before) base::relax();
  };
  // A wait leader that polls in vain while the other thread needs its processor sleeps in the end.
  const auto rarely_sleeps = [&] {
    constexpr std::uint64_t turns = 200;
    const auto before = e->statistics().kernel_sleeps;
    for (std::uint64_t i = 0; i < turns; ++i) post_to(both[i % 2]);
    return e->statistics().kernel_sleeps - before < turns / 20;
  };
  EXPECT_TRUE(eventually(rarely_sleeps));
  over = true;
  for (auto& each : both) post_to(each);
  ASSERT_TRUE(bind_thread(0, all));
}

TEST(waiting, yields_with_more_processes_than_processors_and_then_sleeps) {
  running e(polling::automatic, waiting_policy::adaptive, {}, 1000);
  mailbox box(*e);
  completion c;
  const auto slept = [&] {  // in the kernel, or on its futex if the event thread is slow to leave
    const auto s = e->statistics();
    return s.kernel_sleeps + s.sleeps > 0;
  };
  std::jthread sender([&] {
    EXPECT_TRUE(eventually(slept));
    box.post(c);
  });
  e->wait(c);
}

// Each wait needs one turn of a thread that stands for another rank of the same processor. What a
// wait polls before it yields, it polls in vain.
TEST(waiting, gives_its_processor_to_the_rank_that_answers_after_a_few_rounds) {
  constexpr std::uint64_t waits = 200, rounds_max = 10;
  running e(polling::off, waiting_policy::adaptive, {}, 1000);
  mailbox box(*e);
  std::jthread both([&] {
    bind_thread(0, {sched_getcpu()});
    std::atomic<completion*> asked{nullptr};
    std::jthread answering([&](const std::stop_token& stop) {
      for (; !stop.stop_requested(); sched_yield())
        if (auto* const c = asked.exchange(nullptr)) box.post(*c);
    });
    EXPECT_TRUE(eventually([&] {
      const auto before = e->statistics().explicit_rounds;
      for (std::uint64_t i = 0; i < waits; ++i) {
        completion c;
        asked.store(&c);
        e->wait(c);
      }
      return e->statistics().explicit_rounds - before < rounds_max * waits;
    }));
  });
}

TEST(waiting, detects_oversubscription_by_lost_time_wherever_it_is_confined_to) {
  // Two threads on one processor: the machine as a whole may have idle ones.
  running e(polling::off, waiting_policy::busy);
  mailbox box(*e);
  std::jthread both([&] {
    bind_thread(0, {sched_getcpu()});
    std::jthread load([](const std::stop_token& stop) {
      while (!stop.stop_requested()) base::relax();
    });
    completion never;
    while (e->statistics().delays == 0) {
      if (e->wait_until(never, base::machine_now_ns() + 100 * ms)) break;
    }
  });
  EXPECT_TRUE(eventually([&] { return e->statistics().delays > 0; }));
  completion c;
  box.post(c);
  e->wait(c);
}

/// An event source that lets no thread sleep, like a rail that another thread serves.
class busy_source final : public event_source {
 public:
  explicit busy_source(engine& where) : engine_(where) { engine_.add_source(*this); }
  ~busy_source() { engine_.remove_source(*this); }
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  [[nodiscard]] bool arm(wake_for) noexcept override {
    asked.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  void disarm() noexcept override {}
  std::atomic<int> asked{0};

 private:
  engine& engine_;
};

// The thread that serves the source may need the processor on which another one asks again and
// again: that must not become a busy loop, which would make 50 000 rounds in these 100 ms.
TEST(waiting, leaves_the_processor_when_a_source_does_not_let_it_sleep) {
  running e(polling::off, waiting_policy::block);
  busy_source source(*e);
  completion never;
  EXPECT_FALSE(e->wait_until(never, base::machine_now_ns() + 100 * ms));
  EXPECT_GT(source.asked, 1);
  EXPECT_LT(source.asked, 5'000);
}

TEST(event_thread, leaves_the_processor_when_a_source_does_not_let_it_sleep) {
  running e(polling::event);
  busy_source source(*e);
  e->pending_started();
  EXPECT_TRUE(eventually([&] { return source.asked > 1; }));
  pass_time(100);
  e->pending_ended();
  EXPECT_LT(source.asked, 7'500);
}

TEST(lone_spin, is_for_one_thread_at_a_time_while_nothing_is_pending) {
  running e(polling::off);
  EXPECT_TRUE(e->begin_lone_spin());
  EXPECT_FALSE(e->begin_lone_spin()) << "another thread spins";
  e->end_lone_spin();
  e->pending_started();
  EXPECT_FALSE(e->begin_lone_spin()) << "something waits for progress";
  e->pending_ended();
  EXPECT_TRUE(e->begin_lone_spin());
  e->end_lone_spin();
}

TEST(lone_spin, is_not_for_threads_that_are_to_sleep_at_once) {
  running e(polling::off, waiting_policy::block);
  EXPECT_FALSE(e->begin_lone_spin());
}

/// How many threads may watch at the same time.
int watchers(load_estimate& load) {
  int count = 0;
  while (count < 1000 && load.begin_watch()) ++count;
  EXPECT_FALSE(load.may_watch());
  for (int i = 0; i < count; ++i) load.end_watch();
  return count;
}

// What the kernel counts for a new thread begins at zero. Compared with the counts of the thread
// that had the record before, it looked like a delay of years: computing threads all over.
TEST(load_estimate, measures_no_delay_between_two_threads_that_have_one_record) {
  thread_record *first = nullptr, *second = nullptr;
  std::uint64_t due_ns = 1;
  std::thread([&] {
    first = &this_thread();
    first->delay_due_ns = 5;
  }).join();
  std::thread([&] {
    second = &this_thread();
    due_ns = second->delay_due_ns;
  }).join();
  ASSERT_EQ(first, second);
  EXPECT_EQ(due_ns, 0u);
}

TEST(load_estimate, lets_no_more_threads_watch_than_there_are_free_processors) {
  engine_counters counted;
  load_estimate load(counted, {});
  EXPECT_EQ(watchers(load), 0) << "nothing is known yet";
  const auto here = topology::machine::read().value();
  load.sample(*here, 1, false);
  EXPECT_LT(watchers(load), sysconf(_SC_NPROCESSORS_ONLN)) << "this thread runs";
  load.sample(*here, 1'000'000, false);
  EXPECT_EQ(watchers(load), 0) << "the processes of the node share those that are free";
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  load.sample(*here, 1, false);
  EXPECT_EQ(watchers(load), 0) << "the thread that polls has the only one";
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

}  // namespace
}  // namespace headway::progress::testing::waiting_tests
