#include "progress/waiting/coscheduling.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>

#include "base/backoff.hpp"
#include "fixture.hpp"
#include "mailbox.hpp"
#include "progress/os/scheduling.hpp"

namespace headway::progress::testing::coscheduling_tests {
namespace {

constexpr auto to_partner = coscheduling::rounds_to_partner;
constexpr auto to_answer = coscheduling::rounds_to_answer;

/// How many of `waits` may keep their processor, all of which are answered in time or none.
int kept(coscheduling& pairs, int waits, bool in_time) {
  int count = 0;
  for (int i = 0; i < waits; ++i) {
    const auto rounds = pairs.rounds(!in_time);
    if (rounds == 0) continue;
    ++count;
    in_time ? pairs.answered() : pairs.waited_in_vain(rounds);
  }
  return count;
}

TEST(coscheduling, is_tried_and_lasts_while_answers_come_in_time) {
  coscheduling pairs;
  EXPECT_EQ(kept(pairs, coscheduling::trial_period_min - 1, true), 0);
  EXPECT_EQ(kept(pairs, 1000, true), 1000);
}

TEST(coscheduling, waits_longest_for_the_first_answer_of_a_turn) {
  coscheduling pairs;
  kept(pairs, 1000, true);
  EXPECT_EQ(pairs.rounds(true), to_partner);
  EXPECT_EQ(pairs.rounds(false), to_answer);
}

TEST(coscheduling, gives_a_long_turn_only_while_it_is_of_use) {
  coscheduling pairs;
  EXPECT_EQ(pairs.turn(), coscheduling::usual_waits_in_turn);
  kept(pairs, 1000, true);
  EXPECT_EQ(pairs.turn(), coscheduling::waits_in_turn);
  kept(pairs, 1000, false);
  EXPECT_EQ(pairs.turn(), coscheduling::usual_waits_in_turn);
}

TEST(coscheduling, is_tried_ever_more_seldom_in_vain) {
  coscheduling pairs;
  kept(pairs, 100'000, false);
  const int in_vain = kept(pairs, coscheduling::trial_period_max, false);
  EXPECT_GT(in_vain, 0);
  EXPECT_LE(in_vain, coscheduling::trial_period_max / 100);
}

TEST(coscheduling, lasts_with_one_long_wait_in_vain_a_turn) {
  coscheduling pairs;
  kept(pairs, 1000, true);
  for (int turn = 0; turn < 1000; ++turn) {
    const auto rounds = pairs.rounds(true);
    ASSERT_NE(rounds, 0u);
    pairs.waited_in_vain(rounds);
    ASSERT_EQ(kept(pairs, 20, true), 20);
  }
}

TEST(coscheduling, ends_where_messages_for_others_come_before_most_answers) {
  coscheduling pairs;
  kept(pairs, 1000, true);
  int answers = 0;
  while (pairs.rounds(false) != 0 && answers < 1000) {
    pairs.woke(7);
    pairs.answered();
    ++answers;
  }
  EXPECT_LT(answers, 100);
}

/// A thread that waits for one letter after the other.
struct receiver {
  completion letter;
  std::atomic<bool> waits{false}, ended{false};
  std::atomic<int> received{0};

  void receive_until(const std::atomic<bool>& over, engine& e) {
    while (!over) {
      letter.reset();
      e.pending_started();
      waits = true;
      e.wait(letter);
      e.pending_ended();
      ++received;
    }
    ended = true;
  }
};

TEST(waiting, among_pairs_of_threads_keeps_its_processor_until_the_answer) {
  const auto all = processors_of_thread(0);
  if (all.size() < 2) GTEST_SKIP() << "one processor: nobody can answer from another one";
  // As many processes as processors: none is to spare.
  running e(polling::automatic, waiting_policy::adaptive, {}, static_cast<int>(all.size()));
  mailbox box(*e);
  receiver quick, woken;
  std::atomic<bool> over{false};
  ASSERT_TRUE(bind_thread(0, {all[0]}));
  std::jthread first([&] { quick.receive_until(over, *e); });
  std::jthread second([&] {
    const sched_param none{};  // it runs only while the other one does not
    EXPECT_EQ(sched_setscheduler(0, SCHED_IDLE, &none), 0);
    woken.receive_until(over, *e);
  });
  EXPECT_TRUE(bind_thread(0, {all[1]}));  // not ASSERT: the threads must be told that it is over
  // The first rounds of a wait, which yield to no thread, are over when the answer comes.
  const auto answer = [&] {
    constexpr std::uint64_t rounds_of_an_answer = 24;
    const auto due = e->statistics().explicit_rounds + rounds_of_an_answer;
    for (int i = 0; e->statistics().explicit_rounds < due && i < 1000; ++i) base::relax();
    if (quick.waits.exchange(false)) box.post(quick.letter);
  };
  // Without the rule it sleeps as soon as it has woken the other thread.
  const auto stays_awake = [&] {
    while (!woken.waits.exchange(false)) base::relax();
    pass_time(1);  // until it sleeps
    const int ran = woken.received;
    for (const int awake = quick.received + 2; quick.received < awake;) answer();
    const auto slept = e->statistics().sleeps;
    const int begun = quick.received;
    box.post(woken.letter);
    while (woken.received == ran && e->statistics().sleeps == slept) answer();
    const int answers = quick.received - begun;
    while (woken.received == ran) answer();
    return answers > static_cast<int>(coscheduling::usual_waits_in_turn);
  };
  // Both letters may come at the same time, so that it sleeps neither with the rule nor without.
  EXPECT_TRUE(eventually([&] {
    constexpr int tries = 40;
    int awake = 0;
    for (int i = 0; i < tries; ++i) awake += stays_awake() ? 1 : 0;
    return awake > tries / 2;
  }));
  over = true;
  for (auto* each : {&quick, &woken})
    while (!each->ended)
      if (each->waits.exchange(false)) box.post(each->letter);
  first.join();
  second.join();
  ASSERT_TRUE(bind_thread(0, all));
}

}  // namespace
}  // namespace headway::progress::testing::coscheduling_tests
