#include "windows/exposed_memory.hpp"

#include <gtest/gtest.h>

#include <array>

namespace headway::windows {
namespace {

TEST(exposed_memory, answers_for_what_is_inside_only) {
  std::array<std::byte, 64> bytes{};
  exposed_memory memory(bytes.data(), 64);
  EXPECT_EQ(memory.at(0, 64), bytes.data());
  EXPECT_EQ(memory.at(60, 4), bytes.data() + 60);
  EXPECT_EQ(memory.at(61, 4), nullptr);
  EXPECT_EQ(memory.at(-1, 1), nullptr);
  EXPECT_EQ(memory.at(0, -1), nullptr);
  EXPECT_EQ(memory.at(8, INT64_MAX), nullptr);
  EXPECT_EQ(memory.at(INT64_MAX, 1), nullptr);
}

TEST(exposed_memory, follows_regions_that_come_and_go) {
  std::array<std::byte, 96> bytes{};
  const auto address = [&](std::size_t index) {
    return reinterpret_cast<std::int64_t>(bytes.data() + index);
  };
  exposed_memory memory(nullptr, 0, true);
  EXPECT_EQ(memory.at(address(0), 1), nullptr);
  EXPECT_TRUE(memory.attach(bytes.data() + 64, 32));
  EXPECT_TRUE(memory.attach(bytes.data(), 32));
  EXPECT_FALSE(memory.attach(bytes.data() + 16, 32));
  EXPECT_EQ(memory.at(address(30), 2), bytes.data() + 30);
  EXPECT_EQ(memory.at(address(30), 3), nullptr);
  EXPECT_EQ(memory.at(address(64), 32), bytes.data() + 64);
  EXPECT_EQ(memory.at(address(40), 1), nullptr);
  EXPECT_FALSE(memory.detach(bytes.data() + 1));
  EXPECT_TRUE(memory.detach(bytes.data()));
  EXPECT_EQ(memory.at(address(0), 1), nullptr);
  EXPECT_EQ(memory.at(address(64), 1), bytes.data() + 64);
}

TEST(exposed_memory, sees_regions_through_empty_ones) {
  std::array<std::byte, 64> bytes{};
  const auto begin = reinterpret_cast<std::int64_t>(bytes.data());
  exposed_memory memory(nullptr, 0, true);
  EXPECT_TRUE(memory.attach(bytes.data(), 0));
  EXPECT_EQ(memory.at(begin, 1), nullptr);
  EXPECT_TRUE(memory.attach(bytes.data(), 64));
  EXPECT_TRUE(memory.attach(bytes.data(), 0));
  EXPECT_TRUE(memory.attach(bytes.data() + 32, 0));
  EXPECT_EQ(memory.at(begin, 64), bytes.data());
  EXPECT_EQ(memory.at(begin + 40, 24), bytes.data() + 40);
  EXPECT_EQ(memory.at(begin + 40, 25), nullptr);
}

}  // namespace
}  // namespace headway::windows
