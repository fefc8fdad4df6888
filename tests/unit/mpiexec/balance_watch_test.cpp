#include "tools/mpiexec/balance_watch.hpp"

#include <gtest/gtest.h>

namespace headway::mpiexec {
namespace {

constexpr std::uint64_t s = 1'000'000'000;

/// A job of four ranks: 0 and 2 on processor 0, 1 and 3 on processor 1.
class four_ranks : public testing::Test {
 protected:
  /// Until the next look each rank has had this, in percent of the time.
  struct percent {
    int ran, waited;
  };
  bool next(percent first, percent second, percent third, percent fourth) {
    const auto interval_ns = watch_.next_look_ns() - now_ns_;
    now_ns_ = watch_.next_look_ns();
    const percent all[] = {first, second, third, fourth};
    for (std::size_t rank = 0; rank < 4; ++rank) {
      if (!uses_[rank]) continue;
      uses_[rank]->ran_ns += interval_ns * static_cast<std::uint64_t>(all[rank].ran) / 100;
      uses_[rank]->waited_ns += interval_ns * static_cast<std::uint64_t>(all[rank].waited) / 100;
    }
    return watch_.look(now_ns_, uses_);
  }
  std::uint64_t period_ns() const { return watch_.next_look_ns() - now_ns_; }

  std::optional<processor_use> uses_[4] = {processor_use{}, processor_use{}, processor_use{},
                                           processor_use{}};
  std::uint64_t now_ns_ = 77 * s;
  balance_watch watch_{{{0}, {1}, {0}, {1}}, now_ns_};
};

constexpr int busy = 50;

TEST_F(four_ranks, stay_where_they_are_as_long_as_both_processors_are_busy) {
  for (int i = 0; i < 10; ++i)
    ASSERT_FALSE(next({busy, 50}, {busy, 50}, {busy, 50}, {busy, 50})) << i;
  EXPECT_EQ(period_ns(), 8 * s);
}

TEST_F(four_ranks, stay_where_they_are_if_no_thread_waits_for_the_busy_processor) {
  for (int i = 0; i < 10; ++i) ASSERT_FALSE(next({60, 10}, {20, 0}, {40, 10}, {0, 0})) << i;
}

TEST_F(four_ranks, stay_where_they_are_if_both_processors_are_idle_as_long) {
  for (int i = 0; i < 10; ++i) ASSERT_FALSE(next({25, 25}, {25, 0}, {35, 25}, {30, 0})) << i;
}

TEST_F(four_ranks, are_freed_when_two_looks_find_one_processor_idle_and_the_other_waited_for) {
  EXPECT_FALSE(next({busy, 50}, {0, 0}, {busy, 50}, {0, 0}));
  EXPECT_EQ(period_ns(), s / 2);
  EXPECT_TRUE(next({busy, 50}, {0, 0}, {busy, 50}, {0, 0}));
}

TEST_F(four_ranks, stay_where_they_are_if_the_second_look_finds_nothing) {
  for (int i = 0; i < 5; ++i) {
    ASSERT_FALSE(next({busy, 50}, {0, 0}, {busy, 50}, {0, 0})) << i;
    ASSERT_FALSE(next({busy, 50}, {busy, 50}, {busy, 50}, {busy, 50})) << i;
  }
}

TEST_F(four_ranks, are_freed_when_those_of_one_processor_have_ended) {
  ASSERT_FALSE(next({busy, 50}, {busy, 50}, {busy, 50}, {busy, 50}));
  uses_[1] = uses_[3] = std::nullopt;
  EXPECT_FALSE(next({busy, 50}, {}, {busy, 50}, {}));
  EXPECT_TRUE(next({busy, 50}, {}, {busy, 50}, {}));
}

TEST_F(four_ranks, what_ended_threads_had_does_not_count) {
  ASSERT_FALSE(next({busy, 50}, {busy, 50}, {busy, 50}, {busy, 50}));
  uses_[0] = processor_use{};
  ASSERT_FALSE(next({busy, 50}, {busy, 50}, {busy, 50}, {busy, 50}));
}

TEST(balance_watch, an_idle_hardware_thread_of_the_same_core_does_not_count) {
  balance_watch watch({{0, 1}, {2, 3}}, 0);
  processor_use one{.ran_ns = 0, .waited_ns = 0}, other = one;
  for (int i = 0; i < 5; ++i) {
    const auto now_ns = watch.next_look_ns();
    one = {.ran_ns = now_ns, .waited_ns = now_ns};
    other = {.ran_ns = 2 * now_ns, .waited_ns = 0};
    const std::optional<processor_use> uses[] = {one, other};
    ASSERT_FALSE(watch.look(now_ns, uses)) << i;
  }
}

TEST(processor_use, counts_what_this_process_runs) {
  const auto before = use_of(getpid());
  ASSERT_TRUE(before);
  auto now = before;
  while (now && now->ran_ns <= before->ran_ns) now = use_of(getpid());
  EXPECT_TRUE(now);
  EXPECT_FALSE(use_of(0));
}

}  // namespace
}  // namespace headway::mpiexec
