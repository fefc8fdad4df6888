#include "tools/headway/tuning.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace headway::tool {
namespace {

using collectives::algorithm;
using collectives::collective;
using enum algorithm;

std::vector<algorithm> order_of(const judgement& j) {
  std::vector<algorithm> made;
  std::ranges::transform(j.order, std::back_inserter(made), &timed_algorithm::use);
  return made;
}

TEST(judge, puts_the_quickest_in_front_if_it_is_clearly_quicker) {
  const auto found =
      judge({{flat, {9, 9, 9, 9}}, {ring, {5, 5, 5, 5}}, {chain, {7, 7, 7, 7}}}, flat);
  EXPECT_EQ(order_of(found), (std::vector{ring, chain, flat}));
  EXPECT_EQ(found.why, sampling::doubt::none);
}

TEST(judge, leaves_the_built_in_choice_in_front_where_another_one_is_hardly_quicker) {
  const auto found =
      judge({{flat, {100, 100, 100, 100}}, {ring, {96, 96, 96, 96}}, {chain, {150, 150, 150, 150}}},
            flat);
  EXPECT_EQ(order_of(found), (std::vector{flat, ring, chain}));
}

TEST(judge, leaves_the_built_in_choice_in_front_of_what_wins_in_half_of_the_rounds) {
  // The machine became twice as quick after two rounds, in one of them while the ring ran.
  const auto found = judge({{flat, {100, 100, 60, 60}}, {ring, {102, 50, 62, 50}}}, flat);
  EXPECT_EQ(order_of(found), (std::vector{flat, ring}));
}

TEST(judge, doubts_times_of_which_most_are_many_times_longer_than_the_quickest) {
  const auto found = judge({{flat, {1, 50, 60, 900}}, {ring, {5, 5, 5, 5}}}, flat);
  EXPECT_EQ(found.why, sampling::doubt::spread);
}

TEST(tuned_sizes, keep_the_blocks_of_all_ranks_within_their_bound) {
  EXPECT_EQ(tuned_sizes(collective::barrier, 4), std::vector<std::int64_t>{0});
  for (const int ranks : {2, 4, 16, 64}) {
    EXPECT_EQ(tuned_sizes(collective::allreduce, ranks).back(), 4 << 20);
    const auto blocks = tuned_sizes(collective::alltoall, ranks);
    EXPECT_LE(blocks.back() * ranks, 8 << 20);
    EXPECT_EQ(blocks.front(), 8);
  }
}

TEST(tuned_sizes, stand_for_the_sizes_half_way_to_the_next_one) {
  const std::int64_t sizes[] = {8, 128, 2048};
  EXPECT_EQ(bytes_max_of(sizes, 0), 32);
  EXPECT_EQ(bytes_max_of(sizes, 1), 512);
  EXPECT_EQ(bytes_max_of(sizes, 2), 2048) << "nothing larger was measured";
}

TEST(add_row, widens_the_last_row_of_the_same_order) {
  collectives::tuned_shape shape;
  const std::vector<timed_algorithm> one{{ring, {}}, {flat, {}}}, other{{flat, {}}, {ring, {}}};
  add_row(shape, collective::reduce, 10, one);
  add_row(shape, collective::reduce, 100, one);
  add_row(shape, collective::reduce, 1000, other);
  add_row(shape, collective::allreduce, 1000, other);
  ASSERT_EQ(shape.rows.size(), 3u);
  EXPECT_EQ(shape.rows[0].bytes_max, 100);
  EXPECT_EQ(shape.rows[0].order[0], ring);
  EXPECT_EQ(shape.rows[0].order[1], flat);
  EXPECT_EQ(shape.rows[0].order[2], automatic);
  EXPECT_EQ(shape.rows[2].what, collective::allreduce);
}

}  // namespace
}  // namespace headway::tool
