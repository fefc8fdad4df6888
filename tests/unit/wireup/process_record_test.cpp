#include "wireup/process_record.hpp"

#include <gtest/gtest.h>

#include "wireup/places.hpp"

namespace headway::wireup {
namespace {

process_record a_record() {
  const nic_address one{.connections = {rail_address(38, std::byte{7})}};
  const nic_address two{.connections = {rail_address(1, std::byte{1}), rail_address()}};
  return {.place = {.kernel = 0x0123456789abcdef, .memory = 42, .processors = 96, .package = 1},
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
  EXPECT_FALSE(process_record::place_in(std::span(packed).first(23)));
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

}  // namespace
}  // namespace headway::wireup
