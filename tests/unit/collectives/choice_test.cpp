#include "collectives/choice.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace headway::collectives {
namespace {

constexpr int collectives_count = static_cast<int>(collective::reduce_scatter) + 1;

TEST(choice, has_an_answer_to_every_question) {
  for (int c = 0; c < collectives_count; ++c) {
    for (const std::int64_t bytes :
         {std::int64_t{0}, std::int64_t{1} << 20, std::numeric_limits<std::int64_t>::max()}) {
      for (const int ranks : {1, 2, 100000}) {
        for (const int flags : {0, 1, 2, 3}) {
          const question q{static_cast<collective>(c), bytes, ranks, flags % 2 == 1, flags > 1};
          EXPECT_NE(choose(q), algorithm::automatic) << name_of(q.what);
        }
      }
    }
  }
}

TEST(choice, never_reorders_an_operator_that_does_not_commute) {
  for (const auto what : {collective::reduce, collective::allreduce, collective::reduce_scatter}) {
    for (std::int64_t bytes = 1; bytes < std::int64_t{1} << 40; bytes *= 2) {
      const auto use = choose({.what = what, .bytes = bytes, .ranks = 4, .commutative = false});
      EXPECT_NE(use, algorithm::ring);
      EXPECT_NE(use, algorithm::pairwise);
    }
  }
}

TEST(choice, touches_memory_only_where_it_may) {
  const question large{.what = collective::allreduce, .bytes = 1 << 20, .ranks = 2};
  EXPECT_NE(choose(large), algorithm::direct);
  question permitted = large;
  permitted.direct = true;
  EXPECT_EQ(choose(permitted), algorithm::direct);
  permitted.commutative = false;
  EXPECT_EQ(choose(permitted), algorithm::direct);
}

TEST(choice, takes_few_wake_ups_where_ranks_outnumber_processors) {
  EXPECT_EQ(choose({.what = collective::allreduce, .bytes = 8, .ranks = 16, .crowded = true}),
            algorithm::flat);
  EXPECT_EQ(choose({.what = collective::allreduce, .bytes = 8, .ranks = 16}), algorithm::doubling);
}

TEST(choice, says_of_every_rule_where_it_comes_from) {
  for (const auto& r : rules()) EXPECT_GT(std::string_view(r.measured).size(), 5u);
}

}  // namespace
}  // namespace headway::collectives
