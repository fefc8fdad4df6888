#include "packets/transfer/get_choice.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <span>

namespace headway::packets::get_choice_tests {
namespace {

using way = get_choice::way;
constexpr std::uint64_t kib = 1024;

/// Messages with what each takes by either way.
struct messages {
  std::uint64_t bytes = 64 * kib;
  std::uint64_t get_ns = 0, put_ns = 0;
};

struct get_choice_test : ::testing::Test {
  /// One after the other. How many were fetched by `get`.
  int alone(const messages& m, int count) {
    int got = 0;
    for (int i = 0; i < count; ++i) {
      const auto made = choice.choose(m.bytes, false, now_ns);
      got += made.by == way::get;
      now_ns += made.by == way::get ? m.get_ns : m.put_ns;
      choice.arrived(made, m.bytes, now_ns);
      now_ns += 1000;
    }
    return got;
  }
  /// Four under way at a time, which end in turns.
  int beside(const messages& m, int count) {
    std::deque<get_choice::choice> under_way;
    int got = 0;
    for (int i = 0; i < count; ++i) {
      under_way.push_back(choice.choose(m.bytes, true, now_ns));
      got += under_way.back().by == way::get;
      if (under_way.size() < 4) continue;
      now_ns += under_way.front().by == way::get ? m.get_ns : m.put_ns;
      choice.arrived(under_way.front(), m.bytes, now_ns);
      under_way.pop_front();
    }
    for (const auto& left : under_way) choice.arrived(left, m.bytes, now_ns += m.get_ns);
    return got;
  }
  static constexpr int row = get_choice::row_length;
  /// At least as many as the first rows have.
  static constexpr int first_rows = get_choice::first_rows * get_choice::first_row_length;
  /// So many messages that the slower way is hardly tried any more.
  static constexpr int settled = 4 * get_choice::retry_period_max * row;
  /// From there, the longest time in which it is tried once.
  static constexpr int a_period = (get_choice::retry_period_max + 1) * row;
  get_choice choice;
  std::uint64_t now_ns = 1'000'000;
};

TEST_F(get_choice_test, puts_what_it_must_not_time_until_it_knows_more) {
  EXPECT_EQ(choice.choose_known(64 * kib, false).by, way::put);
  alone({.get_ns = 5000, .put_ns = 9000}, settled);
  EXPECT_EQ(choice.choose_known(64 * kib, false).by, way::get);
  EXPECT_EQ(choice.choose_known(64 * kib, true).by, way::put);  // known of lone ones only
  EXPECT_EQ(choice.choose_known(get_choice::get_bytes_max + 1, false).by, way::put);
}

TEST_F(get_choice_test, learns_nothing_from_messages_beside_threads_that_want_processors) {
  const messages m{.get_ns = 9000, .put_ns = 5000};
  alone(m, settled);
  for (int i = 0; i < 100 * row; ++i) {
    const auto made = choice.choose_known(m.bytes, false);
    EXPECT_EQ(made.by, way::put);
    choice.arrived(made, m.bytes, now_ns += 4'000'000);
  }
  EXPECT_LE(alone(m, a_period), row);  // as if those had not been
}

TEST_F(get_choice_test, tries_both_and_stays_with_the_faster) {
  const messages m{.get_ns = 5000, .put_ns = 7000};
  constexpr int first = 2 * get_choice::cold_row_length + 4 * get_choice::first_row_length;
  EXPECT_EQ(alone(m, first), first / 2);
  EXPECT_GE(alone(m, 100), 100 - 3 * row);
  static_cast<void>(alone(m, settled));
  EXPECT_GE(alone(m, a_period), a_period - row);
}

TEST_F(get_choice_test, stays_with_putting_where_that_is_faster) {
  const messages m{.get_ns = 9000, .put_ns = 5000};
  static_cast<void>(alone(m, settled));
  EXPECT_LE(alone(m, a_period), row);
}

TEST_F(get_choice_test, a_way_that_is_far_slower_is_hardly_tried) {
  const messages m{.get_ns = 50'000, .put_ns = 10'000};
  static_cast<void>(alone(m, settled));
  constexpr int rows = 4000;
  const int got = alone(m, rows * row);
  constexpr int tries = rows / 200;  // of two messages each, because they are clearly slower
  EXPECT_LE(got, 2 * (tries + 1));
  EXPECT_GE(got, 2 * (tries - 2));
}

TEST_F(get_choice_test, a_row_that_is_clearly_slower_ends_after_two_messages) {
  const messages m{.get_ns = 30'000, .put_ns = 10'000};
  // By get: the row that is discarded, two of the first rows, and one retry.
  EXPECT_EQ(alone(m, 40), 2 + 2 + 2 + 2);
  EXPECT_LE(alone(m, 60), 4);
}

TEST_F(get_choice_test, one_message_that_was_held_up_does_not_end_a_row) {
  static_cast<void>(alone({.get_ns = 9000, .put_ns = 5000}, settled));
  while (alone({.get_ns = 1'000'000, .put_ns = 5000}, 1) == 0) continue;  // the first by get
  const messages quick_get{.get_ns = 2000, .put_ns = 5000};
  EXPECT_EQ(alone(quick_get, row - 1), row - 1);
  EXPECT_GE(alone(quick_get, 100), 100 - row);
}

TEST_F(get_choice_test, a_size_starts_with_putting_where_that_is_clearly_faster_for_half_of_it) {
  static_cast<void>(alone({.bytes = 128 * kib, .get_ns = 40'000, .put_ns = 20'000}, settled));
  const messages larger{.bytes = 256 * kib, .get_ns = 80'000, .put_ns = 40'000};
  EXPECT_EQ(alone(larger, 2 * row), 0);
  EXPECT_EQ(alone(larger, 2), 2) << "then it tries the other way";
}

TEST_F(get_choice_test, a_size_starts_with_getting_where_that_is_clearly_faster_for_half_of_it) {
  static_cast<void>(alone({.bytes = 128 * kib, .get_ns = 20'000, .put_ns = 40'000}, settled));
  const messages larger{.bytes = 256 * kib, .get_ns = 40'000, .put_ns = 80'000};
  EXPECT_EQ(alone(larger, 2 * row), 2 * row);
  EXPECT_EQ(alone(larger, 2), 0) << "then it tries the other way";
}

TEST_F(get_choice_test, a_size_tries_both_if_half_of_it_found_no_clear_difference) {
  static_cast<void>(alone({.bytes = 128 * kib, .get_ns = 11'000, .put_ns = 10'000}, settled));
  EXPECT_GT(alone({.bytes = 256 * kib, .get_ns = 22'000, .put_ns = 20'000}, 2 * row), 2);
}

TEST_F(get_choice_test, a_message_of_a_row_that_ended_early_says_nothing_of_the_next) {
  const messages slow_get{.get_ns = 30'000, .put_ns = 10'000};
  static_cast<void>(alone(slow_get, 2 + 2 + 4 + 2 + 4 + 2));  // the first rows
  while (alone(slow_get, 1) == 0) continue;                   // the first message of the retry
  std::array<get_choice::choice, row - 1> others;
  for (auto& one : others) {
    one = choice.choose(slow_get.bytes, false, now_ns);
    ASSERT_TRUE(one.timed && one.by == way::get);
  }
  choice.arrived(others[0], slow_get.bytes, now_ns += slow_get.get_ns);  // ends the row
  // In the next row, which is by put, these would count as puts that took no time.
  for (const auto& late : std::span(others).subspan(1))
    choice.arrived(late, slow_get.bytes, now_ns);
  static_cast<void>(alone(slow_get, 100));
  const messages slow_put{.get_ns = 12'000, .put_ns = 20'000};
  static_cast<void>(alone(slow_put, 2000));
  EXPECT_GT(alone(slow_put, 100), 90);
}

TEST_F(get_choice_test, a_cold_start_does_not_last) {
  static_cast<void>(alone({.get_ns = 9000, .put_ns = 20'000}, first_rows));
  const messages warm{.get_ns = 9000, .put_ns = 5000};
  static_cast<void>(alone(warm, 4 * row));
  EXPECT_LE(alone(warm, 100), 3 * row);
}

TEST_F(get_choice_test, knows_messages_alone_from_messages_beside_others) {
  static_cast<void>(alone({.get_ns = 9000, .put_ns = 5000}, settled));
  static_cast<void>(beside({.get_ns = 5000, .put_ns = 9000}, settled));
  EXPECT_LE(alone({.get_ns = 9000, .put_ns = 5000}, 100), row);
  EXPECT_GT(beside({.get_ns = 5000, .put_ns = 9000}, 100), 90 - row);
}

TEST_F(get_choice_test, each_size_has_its_own) {
  const messages small{.bytes = 32 * kib, .get_ns = 5000, .put_ns = 9000};
  const messages large{.bytes = 512 * kib, .get_ns = 90'000, .put_ns = 50'000};
  static_cast<void>(alone(small, settled));
  static_cast<void>(alone(large, settled));
  EXPECT_GE(alone(small, 100), 100 - row);
  EXPECT_LE(alone(large, 100), row);
}

TEST_F(get_choice_test, a_message_that_was_held_up_changes_nothing) {
  const messages m{.get_ns = 5000, .put_ns = 9000};
  static_cast<void>(alone(m, settled));
  int got = 0;
  for (int i = 0; i < 20; ++i) {
    static_cast<void>(alone({.get_ns = 4'000'000, .put_ns = 9000}, 1));
    got += alone(m, row - 1);
  }
  EXPECT_GE(got, 20 * (row - 1) - row);
}

TEST_F(get_choice_test, sees_that_the_slower_became_the_faster) {
  static_cast<void>(alone({.get_ns = 9000, .put_ns = 5000}, settled));
  static_cast<void>(alone({.get_ns = 2000, .put_ns = 5000}, a_period));
  EXPECT_GE(alone({.get_ns = 2000, .put_ns = 5000}, 100), 100 - row);
}

TEST_F(get_choice_test, what_would_occupy_a_polling_thread_for_long_is_put) {
  EXPECT_EQ(alone({.bytes = get_choice::get_bytes_max + 1, .get_ns = 1, .put_ns = 9}, 100), 0);
}

}  // namespace
}  // namespace headway::packets::get_choice_tests
