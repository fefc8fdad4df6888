#include "messages/operation_log.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace headway::messages {
namespace {

constexpr operation_log::word bcast = 2, barrier = 1, other_form = bcast | 1U << 30;
constexpr int own_rank = 5, its_rank = 3;

void note_all(operation_log& log, std::initializer_list<operation_log::word> calls) {
  for (const auto each : calls) log.note(each);
}

TEST(operation_log, has_equal_histories_for_equal_calls_in_any_form) {
  operation_log one, other;
  note_all(one, {bcast, barrier});
  note_all(other, {other_form, barrier});
  EXPECT_EQ(one.history(), other.history());
  EXPECT_FALSE(one.compare(other.make_copy(), its_rank, own_rank));
}

TEST(operation_log, has_other_histories_for_another_order_also_after_more_calls) {
  operation_log one, other;
  note_all(one, {bcast, barrier});
  note_all(other, {barrier, bcast});
  for (int i = 0; i < 1000; ++i) {
    ASSERT_NE(one.history() >> 48, other.history() >> 48);
    note_all(one, {bcast});
    note_all(other, {bcast});
  }
}

TEST(operation_log, has_other_histories_in_another_communicator_with_the_same_context_number) {
  operation_log one(1), next(2), after(3);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_NE(one.history() >> 48, next.history() >> 48);
    ASSERT_NE(next.history() >> 48, after.history() >> 48);
    for (auto* each : {&one, &next, &after}) each->note(bcast);
  }
}

TEST(operation_log, finds_the_first_call_that_differs_and_names_both_sides) {
  operation_log one, other;
  note_all(one, {bcast, barrier, bcast});
  note_all(other, {bcast, bcast, barrier, barrier});
  const auto found = one.compare(other.make_copy(), its_rank, own_rank);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->position, 2U);
  EXPECT_EQ(found->sides[0].rank, its_rank);
  EXPECT_EQ(found->sides[0].call, bcast);
  EXPECT_EQ(found->sides[1].rank, own_rank);
  EXPECT_EQ(found->sides[1].call, barrier);
}

TEST(operation_log, does_not_compare_calls_that_one_rank_has_not_begun_or_has_forgotten) {
  operation_log ahead, behind;
  note_all(behind, {bcast});
  note_all(ahead, {barrier});
  for (std::size_t i = 0; i < operation_log::kept; ++i) ahead.note(bcast);
  EXPECT_FALSE(behind.compare(ahead.make_copy(), its_rank, own_rank));
  EXPECT_FALSE(ahead.compare(behind.make_copy(), its_rank, own_rank));
}

TEST(operation_log, forgets_a_call_that_is_taken_back) {
  operation_log one, other;
  note_all(one, {bcast});
  const auto before = one.history();
  one.note(barrier);
  one.take_back(before);
  note_all(one, {bcast});
  note_all(other, {bcast, bcast});
  EXPECT_EQ(one.history(), other.history());
  EXPECT_EQ(one.last(), other.last());
  EXPECT_FALSE(one.compare(other.make_copy(), its_rank, own_rank));
}

TEST(operation_log, is_broken_once_and_keeps_the_first_reason_for_every_thread) {
  operation_log log;
  std::thread reader([&] {
    while (!log.is_broken()) std::this_thread::yield();
    EXPECT_EQ(log.why_broken().position, 7U);
  });
  EXPECT_TRUE(log.break_with({.position = 7, .sides = {}}));
  EXPECT_FALSE(log.break_with({.position = 8, .sides = {}}));
  reader.join();
  EXPECT_EQ(log.why_broken().position, 7U);
}

}  // namespace
}  // namespace headway::messages
