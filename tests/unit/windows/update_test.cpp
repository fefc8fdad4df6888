#include "windows/update.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

namespace headway::windows {
namespace {

using collectives::operation;
using datatypes::number;

/// What MPI_DOUBLE_INT is in C.
struct pair {
  double value;
  int index;
};

TEST(update, changes_elements_at_any_address) {
  constexpr std::size_t count = 100;
  alignas(16) std::array<std::byte, count * sizeof(std::int64_t) + 4> memory{};
  std::vector<std::int64_t> operand(count), before(count, -1);
  for (std::size_t i = 0; i < count; ++i) operand[i] = static_cast<std::int64_t>(i);
  const auto sum = update::of({operation::sum, number::int64});
  ASSERT_TRUE(sum);
  for (int round = 0; round < 2; ++round)
    sum->apply(memory.data() + 4, count, reinterpret_cast<const std::byte*>(operand.data()),
               reinterpret_cast<std::byte*>(before.data()));
  EXPECT_EQ(before, operand);
  std::vector<std::int64_t> now(count);
  std::memcpy(now.data(), memory.data() + 4, count * sizeof(std::int64_t));
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(now[i], 2 * operand[i]);
}

TEST(update, takes_an_operand_at_any_address) {
  constexpr std::size_t count = 100;
  std::vector<long double> values(count), sums(count, 1);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<long double>(i);
  alignas(16) std::array<std::byte, count * sizeof(long double) + 8> operand;
  std::memcpy(operand.data() + 8, values.data(), count * sizeof(long double));
  const auto sum = update::of({operation::sum, number::long_double});
  ASSERT_TRUE(sum);
  sum->apply(reinterpret_cast<std::byte*>(sums.data()), count, operand.data() + 8, nullptr);
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(sums[i], values[i] + 1);
}

TEST(update, does_not_touch_the_gap_behind_the_last_pair) {
  constexpr std::size_t gap = sizeof(pair) - sizeof(double) - sizeof(int);
  std::array<pair, 2> memory;
  std::memset(static_cast<void*>(&memory), 0x5a, sizeof memory);
  const std::array<pair, 2> operand{{{.value = 3, .index = 1}, {.value = 4, .index = 2}}};
  const auto replace = update::of({operation::replace, number::double_int});
  ASSERT_TRUE(replace);
  replace->apply(reinterpret_cast<std::byte*>(memory.data()), memory.size(),
                 reinterpret_cast<const std::byte*>(operand.data()), nullptr);
  EXPECT_EQ(memory[1].value, 4);
  EXPECT_EQ(memory[1].index, 2);
  std::array<unsigned char, gap> behind;
  std::memcpy(behind.data(), reinterpret_cast<const char*>(&memory) + sizeof memory - gap, gap);
  for (const auto byte : behind) EXPECT_EQ(byte, 0x5a);
}

}  // namespace
}  // namespace headway::windows
