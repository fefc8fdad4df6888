#include "collectives/arena.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

namespace headway::collectives::test {
namespace {

constexpr std::int64_t mib = 1024 * 1024;

TEST(arena, gives_pieces_on_cache_lines_that_do_not_overlap) {
  arena a;
  std::vector<std::byte*> pieces;
  for (int i = 0; i < 300; ++i) {
    pieces.push_back(a.take(100));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pieces.back()) % 64, 0u);
    std::memset(pieces.back(), i % 128, 100);
  }
  for (int i = 0; i < 300; ++i)
    for (int at : {0, 99}) EXPECT_EQ(pieces[static_cast<std::size_t>(i)][at], std::byte(i % 128));
}

TEST(arena, has_what_was_taken_last_time_in_one_piece_the_next_time) {
  arena a;
  const auto take_two = [&a] {
    auto* const first = a.take(mib);
    return std::pair(first, a.take(mib));
  };
  take_two();
  a.clear();
  const auto second_time = take_two();
  EXPECT_EQ(second_time.second, second_time.first + mib);
  a.clear();
  EXPECT_EQ(a.kept(), 2u * mib);
  EXPECT_EQ(take_two(), second_time);
}

TEST(arena, keeps_large_memory_only_up_to_a_limit_of_all) {
  const auto keeps = [](arena& a) {
    std::ignore = a.take(8 * mib);
    a.clear();
    return a.kept() != 0;
  };
  {
    std::vector<arena> all(12);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(std::ranges::count_if(all, keeps), 8);
  }
  arena later;
  EXPECT_TRUE(keeps(later));
}

}  // namespace
}  // namespace headway::collectives::test
