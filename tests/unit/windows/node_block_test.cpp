#include "windows/node_block.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace headway::windows {
namespace {

constexpr std::size_t block_bytes = 8192;

TEST(node_block, takes_over_a_name_that_an_earlier_block_has_left) {
  const auto path = fmt::format("/dev/shm/headway_window-test-{}", getpid());
  const auto earlier = node_block::create(path, block_bytes, block_bytes);
  ASSERT_TRUE(earlier.has_value());
  const auto later = node_block::create(path, block_bytes, block_bytes);
  ASSERT_TRUE(later.has_value());
  *later->at() = std::byte{7};
  EXPECT_EQ(*earlier->at(), std::byte{0});
  const auto opened = node_block::open(path, block_bytes);
  node_block::unlink(path);
  ASSERT_TRUE(opened.has_value());
  EXPECT_EQ(*opened->at(), std::byte{7});
}

TEST(node_block, begins_where_its_alignment_allows) {
  for (const std::size_t alignment :
       {std::size_t{64}, std::size_t{1} << 16, std::size_t{1} << 21}) {
    const auto made = node_block::own(100, alignment);
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(made->at()) % alignment, 0);
    made->at()[99] = std::byte{1};
  }
}

TEST(node_block, says_which_call_was_refused) {
  const auto made = node_block::create("/dev/shm/no such folder/block", block_bytes, block_bytes);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().text, "open /dev/shm/no such folder/block: No such file or directory");
}

}  // namespace
}  // namespace headway::windows
