// For what a rank wakes others that compute.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/operators.hpp"
#include "harness.hpp"

namespace headway::collectives::test::wakes_tests {
namespace {

const auto& byte_type = datatypes::layout::of(datatypes::number::byte);
constexpr int size = 3;

/// Ranks with banks of 2 MiB, or with ones of 256 bytes.
struct ranks {
  model_world world;
  std::vector<std::vector<std::byte>> data;

  explicit ranks(std::int64_t bytes, bool large_banks = true)
      : world(size, large_banks ? 1 : 2),
        data(size, std::vector<std::byte>(static_cast<std::size_t>(bytes))) {
    lend(false);
  }
  void lend(bool yes) {
    for (int rank = 0; rank < size; ++rank) world.ranks(rank).memory.lends = yes;
  }
  [[nodiscard]] block of(int rank) {
    auto& mine = data[static_cast<std::size_t>(rank)];
    return {mine.data(), static_cast<std::int64_t>(mine.size()), &byte_type};
  }
  [[nodiscard]] operation::build bcast() {
    return [this](schedule& s, team& t) { bcast_shared(s, t, of(t.rank), 0); };
  }
};

TEST(wakes, of_readers_that_only_copy_can_wait) {
  for (const int bytes : {8, 1000, 100'000}) {
    ranks all(bytes);
    ASSERT_NO_FATAL_FAILURE(perform(all.world, all.bcast()));
    EXPECT_EQ(all.world.urgent_wakes(0), 0) << bytes;
  }
}

TEST(wakes, of_readers_of_a_lent_stream_cannot_wait) {
  ranks all(100'000);
  all.lend(true);
  operation op;
  op.start(all.world, all.bcast());
  EXPECT_GT(all.world.urgent_wakes(0), 0);
  EXPECT_EQ(all.world.relying(0), 1);
  all.world.settle();
  EXPECT_TRUE(op.ended_well());
  EXPECT_EQ(all.world.relying(0), 0);
}

TEST(wakes, of_readers_of_a_stream_longer_than_the_bank_cannot_wait) {
  ranks all(1000, false);
  ASSERT_NO_FATAL_FAILURE(perform(all.world, all.bcast()));
  EXPECT_GT(all.world.urgent_wakes(0), 0);
}

TEST(wakes, of_readers_that_show_something_in_turn_cannot_wait) {
  ranks all(3);
  std::vector<std::byte> sum(3);
  ASSERT_NO_FATAL_FAILURE(perform(all.world, [&](schedule& s, team& t) {
    reduce_shared_parts(
        s, t,
        {.send = all.of(t.rank).data,
         .receive = sum.data(),
         .count = 3,
         .type = &byte_type,
         .op = predefined(collectives::operation::bor, datatypes::number::byte).value()},
        0);
  }));
  // For its parts, which the other ranks combine.
  EXPECT_EQ(all.world.urgent_wakes(1), size - 1);
}

/// In two levels the first rank of a node sends what the others have shown to other nodes.
TEST(wakes, of_readers_that_send_to_other_nodes_cannot_wait) {
  model_world world(4, 1, {0, 0, 1, 1});
  std::vector<std::int64_t> mine(4, 1), sum(4);
  const auto& type = datatypes::layout::of(datatypes::number::int64);
  ASSERT_NO_FATAL_FAILURE(perform(world, [&](schedule& s, team& t) {
    allreduce_two_levels(
        s, t,
        {.send = &mine[static_cast<std::size_t>(t.rank)],
         .receive = &sum[static_cast<std::size_t>(t.rank)],
         .count = 1,
         .type = &type,
         .op = predefined(collectives::operation::sum, datatypes::number::int64).value()});
  }));
  EXPECT_EQ(sum, std::vector<std::int64_t>(4, 4));
  EXPECT_EQ(world.urgent_wakes(1), 1);
  EXPECT_EQ(world.urgent_wakes(0), 0) << "rank 1 only copies the result";
}

TEST(wakes, of_readers_that_delay_a_later_stream_cannot_wait) {
  ranks all(8);
  std::vector<schedule_ptr> started;
  const auto start_on = [&](int rank) {
    started.push_back(new_schedule());
    auto& t = all.world.ranks(rank);
    bcast_shared(*started.back(), t, all.of(rank), 0);
    started.back()->bind(t);
    started.back()->start();
  };
  for (std::size_t i = 0; i < bank_lines; ++i) start_on(0);
  EXPECT_EQ(all.world.urgent_wakes(0), 0);
  EXPECT_EQ(all.world.relying(0), 0);
  start_on(0);
  EXPECT_EQ(all.world.urgent_wakes(0), size - 1);
  EXPECT_EQ(all.world.relying(0), 1);
  for (int rank = 1; rank < size; ++rank)
    for (std::size_t i = 0; i <= bank_lines; ++i) start_on(rank);
  all.world.settle();
  EXPECT_EQ(all.world.pending(), 0);
  EXPECT_EQ(all.world.urgent_wakes(0), size - 1) << "once";
  EXPECT_EQ(all.world.relying(0), 0);
}

}  // namespace
}  // namespace headway::collectives::test::wakes_tests
