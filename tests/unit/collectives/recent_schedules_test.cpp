#include "collectives/recent_schedules.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace headway::collectives::test {
namespace {

constexpr call_key a_call{.what = collective::allreduce, .count = 8};

/// Takes the schedule of a call, and returns it.
bool is_built(recent_schedules& all, const call_key& key) { return all.take(key).is_built(); }

TEST(recent_schedules, keep_the_schedule_of_an_equal_call) {
  recent_schedules all;
  const schedule* first = nullptr;
  {
    const auto steps = all.take(a_call);
    EXPECT_FALSE(steps.is_built());
    steps->send(1, nullptr, 0);
    first = &*steps;
  }
  const auto again = all.take(a_call);
  EXPECT_TRUE(again.is_built());
  EXPECT_EQ(&*again, first);
  EXPECT_EQ(again->steps().size(), 2u);
}

TEST(recent_schedules, tell_calls_apart_by_each_part_of_the_key) {
  const int x = 0;
  for (const call_key other :
       {call_key{.what = collective::scan, .count = 8},
        call_key{.what = collective::allreduce, .root = 1, .count = 8},
        call_key{.what = collective::allreduce, .neighbors = true, .count = 8},
        call_key{.what = collective::allreduce, .send = &x, .count = 8},
        call_key{.what = collective::allreduce, .receive = &x, .count = 8},
        call_key{.what = collective::allreduce, .count = 12},
        call_key{.what = collective::allreduce, .count = 8, .type = &x},
        call_key{.what = collective::allreduce, .count = 8, .send_count = 1},
        call_key{.what = collective::allreduce, .count = 8, .send_type = &x},
        call_key{.what = collective::allreduce, .count = 8, .op = &x}}) {
    recent_schedules all;
    all.take(a_call)->send(1, nullptr, 0);
    const auto steps = all.take(other);
    EXPECT_FALSE(steps.is_built());
    EXPECT_TRUE(steps->steps().empty());
  }
}

TEST(recent_schedules, give_a_second_call_another_schedule_while_the_first_is_under_way) {
  recent_schedules all;
  std::optional under_way(all.take(a_call));
  {
    const auto second = all.take(a_call);
    EXPECT_FALSE(second.is_built());
    EXPECT_NE(&*second, &**under_way);
  }
  under_way.reset();
  EXPECT_TRUE(is_built(all, a_call));
}

TEST(recent_schedules, drop_what_was_made_before_also_if_it_is_under_way) {
  recent_schedules all;
  EXPECT_FALSE(is_built(all, a_call));
  all.forget();
  EXPECT_FALSE(is_built(all, a_call));
  std::optional under_way(all.take(a_call));
  EXPECT_TRUE(under_way->is_built());
  all.forget();
  under_way.reset();
  EXPECT_FALSE(is_built(all, a_call));
}

TEST(recent_schedules, do_not_use_again_what_has_failed) {
  recent_schedules all;
  all.take(a_call).discard();
  EXPECT_FALSE(is_built(all, a_call));
}

}  // namespace
}  // namespace headway::collectives::test
