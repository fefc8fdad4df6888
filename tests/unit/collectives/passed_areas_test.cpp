// Areas of shared memory that two ranks pass to each other with their streams.
#include "collectives/passed_areas.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/operators.hpp"
#include "harness.hpp"

namespace headway::collectives::test {
namespace {

const auto& byte_type = datatypes::layout::of(datatypes::number::byte);

/// How many areas a rank owns. It takes them all.
int taken(model_world& world, int rank) {
  int count = 0;
  auto where = rails::passed_place::none;
  while (world.areas(rank).take(1, where)) ++count;
  return count;
}

/// Both have reserved as much as streams of so many bytes need, and own an area each.
struct two_ranks {
  model_world world{2, 1};
  std::array<std::vector<std::byte>, 2> data;

  explicit two_ranks(std::size_t bytes) {
    data.fill(std::vector<std::byte>(bytes));
    for (int i = 0; i < 2; ++i) allgather();
    for (int rank = 0; rank < 2; ++rank) std::fill_n(world.area_of(rank), bytes, std::byte{});
  }
  [[nodiscard]] block of(int rank) {
    auto& mine = data[static_cast<std::size_t>(rank)];
    return {mine.data(), static_cast<std::int64_t>(mine.size()), &byte_type};
  }
  void allgather() {
    const auto bytes = static_cast<std::int64_t>(data[0].size());
    std::array<std::vector<std::byte>, 2> all;
    all.fill(std::vector<std::byte>(2 * data[0].size()));
    perform(world, [&](schedule& s, team& t) {
      const block mine = of(t.rank);
      auto& to = all[static_cast<std::size_t>(t.rank)];
      allgather_shared(s, t, &mine, {.data = to.data(), .type = &byte_type, .count = bytes});
    });
  }
  void bcast(int root, int value) {
    data[static_cast<std::size_t>(root)].assign(data[0].size(), static_cast<std::byte>(value));
    perform(world, [&](schedule& s, team& t) { bcast_shared(s, t, of(t.rank), root); });
    EXPECT_EQ(data[0], data[1]);
  }
  /// How many areas hold a stream of that value.
  [[nodiscard]] int areas_with(int value) const {
    int count = 0;
    for (int rank = 0; rank < 2; ++rank)
      count += world.area_of(rank)[data[0].size() - 1] == static_cast<std::byte>(value);
    return count;
  }
};

TEST(passed_areas, belong_to_the_rank_that_has_read_the_last_stream_there) {
  two_ranks two(1000);
  ASSERT_NO_FATAL_FAILURE(two.bcast(0, 7));
  EXPECT_EQ(two.areas_with(7), 1);
  EXPECT_EQ(taken(two.world, 0), 0);
  EXPECT_EQ(taken(two.world, 1), 2);
}

TEST(passed_areas, hold_an_answer_where_the_stream_was_that_it_answers) {
  two_ranks two(1000);
  for (int i = 1; i < 5; ++i) {
    ASSERT_NO_FATAL_FAILURE(two.bcast(i % 2, i));
    EXPECT_EQ(two.areas_with(i), 1);
    EXPECT_EQ(two.areas_with(0), 1) << "never used";
  }
}

TEST(passed_areas, stay_with_a_rank_while_the_other_one_shows_all_streams) {
  two_ranks two(1000);
  for (int i = 1; i < 40; ++i) ASSERT_NO_FATAL_FAILURE(two.bcast(0, i));
  EXPECT_EQ(two.areas_with(1), 1) << "of the first one only";
}

TEST(passed_areas, are_not_used_before_both_ranks_have_reserved_enough) {
  two_ranks two(1000);
  constexpr std::int64_t more = 100 * 1024;
  auto where = rails::passed_place::none;
  EXPECT_EQ(two.world.areas(0).take(more, where), nullptr);
  EXPECT_NE(two.world.areas(1).take(more, where), nullptr) << "the other one has it already";
  EXPECT_NE(two.world.areas(0).take(more, where), nullptr);
}

TEST(passed_areas, are_not_used_for_streams_that_do_not_fit) {
  two_ranks two(1000);
  two.data.fill(std::vector<std::byte>(static_cast<std::size_t>(passed_areas::bytes_max + 1)));
  ASSERT_NO_FATAL_FAILURE(two.bcast(0, 7));
  EXPECT_EQ(taken(two.world, 0), 1);
}

TEST(passed_areas, are_not_used_by_a_rank_that_no_other_one_reads) {
  two_ranks two(1000);
  std::array<std::vector<std::byte>, 2> sum;
  sum.fill(std::vector<std::byte>(1000));
  perform(two.world, [&](schedule& s, team& t) {
    scan_shared(s, t,
                {.send = two.of(t.rank).data,
                 .receive = sum[static_cast<std::size_t>(t.rank)].data(),
                 .count = 1000,
                 .type = &byte_type,
                 .op = *predefined(collectives::operation::bor, datatypes::number::byte)},
                false);
  });
  EXPECT_EQ(taken(two.world, 0), 0);
  EXPECT_EQ(taken(two.world, 1), 2) << "the last rank shows nothing";
}

TEST(passed_areas, are_used_in_both_exchanges_of_an_operation) {
  constexpr std::int64_t count = 200;
  std::array<std::vector<std::int64_t>, 2> input, sum;
  input.fill(std::vector<std::int64_t>(count, 3));
  sum.fill(std::vector<std::int64_t>(count));
  two_ranks two(1000);
  perform(two.world, [&](schedule& s, team& t) {
    const auto rank = static_cast<std::size_t>(t.rank);
    allreduce_shared_parts(
        s, t,
        {.send = input[rank].data(),
         .receive = sum[rank].data(),
         .count = count,
         .type = &datatypes::layout::of(datatypes::number::int64),
         .op = *predefined(collectives::operation::sum, datatypes::number::int64)});
  });
  for (int rank = 0; rank < 2; ++rank)
    EXPECT_EQ(*reinterpret_cast<const std::int64_t*>(two.world.area_of(rank)), 6)
        << "of the second";
}

TEST(passed_areas, are_given_up_with_a_stream_of_another_length_than_expected) {
  two_ranks two(1000);
  two.data[1].resize(500);
  operation op;
  op.start(two.world, [&](schedule& s, team& t) { bcast_shared(s, t, two.of(t.rank), 0); });
  two.world.settle();
  EXPECT_EQ(op.of(1).how(), messages::outcome::truncated);
  EXPECT_EQ(taken(two.world, 0), 0);
  EXPECT_EQ(taken(two.world, 1), 1) << "the other rank may still write to the one that it had";
}

}  // namespace
}  // namespace headway::collectives::test
