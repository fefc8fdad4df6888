#include "wireup/process_record.hpp"

#include <gtest/gtest.h>

#include "wireup/places.hpp"

namespace headway::wireup {
namespace {

process_record a_record() {
  const nic_address one{.connections = {rail_address(38, std::byte{7})}};
  const nic_address two{.connections = {rail_address(1, std::byte{1}), rail_address()}};
  return {.place = {.kernel = 0x0123456789abcdef,
                    .memory = 42,
                    .processors = 96,
                    .package = 1,
                    .tuned = 5},
          .host = "node7",
          .addresses = {{"shm", {one}}, {"tcp", {one, two}}}};
}

TEST(process_record, comes_back_as_it_was_packed) {
  for (const auto& record : {a_record(), process_record{}}) {
    const auto back = process_record::unpack(record.pack());
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, record);
    EXPECT_EQ(process_record::place_in(record.pack()), record.place);
  }
}

TEST(process_record, refuses_every_cut_and_every_addition) {
  auto packed = a_record().pack();
  for (std::size_t size = 0; size < packed.size(); ++size)
    EXPECT_FALSE(process_record::unpack(std::span(packed).first(size))) << size;
  EXPECT_FALSE(process_record::place_in(std::span(packed).first(31)));
  packed.push_back(std::byte{});
  EXPECT_FALSE(process_record::unpack(packed));
}

TEST(process_record, two_processes_of_one_kernel_and_shared_memory_have_one_place) {
  const auto here = process_place::own(4);
  EXPECT_EQ(here, process_place::own(4));
  EXPECT_NE(here.kernel, here.memory);
  EXPECT_EQ(here.processors, 4u);
}

TEST(places, equal_values_get_equal_numbers_in_the_order_in_which_they_come) {
  EXPECT_EQ(number_by_equality(std::array<std::uint64_t, 5>{7, 5, 7, 9, 5}),
            (std::vector{0, 1, 0, 2, 1}));
  EXPECT_TRUE(number_by_equality({}).empty());
}

TEST(places, a_table_counts_only_where_all_processes_of_the_node_have_read_the_same) {
  using tables = places::tables;
  const std::array nodes{0, 0, 1, 1};
  using numbers = std::array<std::uint64_t, 4>;
  const auto on_node = [&](const numbers& tuned, std::size_t own) {
    return compare_tables(tuned, nodes, own);
  };
  EXPECT_EQ(on_node({7, 7, 9, 9}, 0), tables::same);
  EXPECT_EQ(on_node({7, 7, 9, 9}, 3), tables::same) << "each node has its own";
  EXPECT_EQ(on_node({7, 8, 9, 9}, 0), tables::different);
  EXPECT_EQ(on_node({7, 8, 9, 9}, 1), tables::different);
  EXPECT_EQ(on_node({0, 8, 9, 9}, 0), tables::different) << "also where one has none";
  EXPECT_EQ(on_node({0, 8, 9, 9}, 1), tables::different);
  EXPECT_EQ(on_node({0, 0, 9, 9}, 1), tables::none);
}

}  // namespace
}  // namespace headway::wireup
