#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "datatypes/build.hpp"

namespace headway::datatypes {
namespace {

/// Blocks of each size for which the copy has a special case, and of neighbouring sizes.
class pack_blocks : public testing::TestWithParam<std::int64_t> {};

TEST_P(pack_blocks, of_this_size_move_whole_and_in_pieces) {
  const std::int64_t block = GetParam(), stride = block + 3, count = 9;
  const auto type = build_hvector(count, block, stride, layout::of(number::byte)).value();
  std::vector<unsigned char> from(static_cast<std::size_t>(count * stride));
  std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
  std::vector<unsigned char> expected;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = from.begin() + i * stride;
    expected.insert(expected.end(), at, at + block);
  }
  std::vector<unsigned char> packed(expected.size());
  type->pack(from.data(), 1, reinterpret_cast<std::byte*>(packed.data()));
  EXPECT_EQ(packed, expected);
  for (std::int64_t cut = 0; cut <= type->size(); ++cut) {
    std::vector<unsigned char> halves(expected.size());
    auto* to = reinterpret_cast<std::byte*>(halves.data());
    type->pack(from.data(), 1, 0, cut, to);
    type->pack(from.data(), 1, cut, type->size(), to + cut);
    ASSERT_EQ(halves, expected) << "cut at " << cut;
  }
}

INSTANTIATE_TEST_SUITE_P(sizes, pack_blocks,
                         testing::Values(1, 2, 3, 4, 5, 8, 12, 16, 17, 24, 32, 64, 100));

TEST(pack, of_a_contiguous_type_is_one_copy_of_the_bytes) {
  const int from[4] = {1, 2, 3, 4};
  int to[4] = {};
  layout::of(number::int32).pack(from, 4, reinterpret_cast<std::byte*>(to));
  EXPECT_EQ(to[3], 4);
  layout::of(number::int32).pack(from, 4, 4, 12, reinterpret_cast<std::byte*>(to));
  EXPECT_EQ(to[0], 2);
  EXPECT_EQ(to[1], 3);
}

TEST(pack, starts_at_the_first_byte_of_a_shifted_type) {
  const std::int64_t blocks[] = {2}, places[] = {3};
  const auto shifted = build_indexed(blocks, places, layout::of(number::int32)).value();
  EXPECT_EQ(shifted->true_lb(), 12);
  const int from[6] = {0, 1, 2, 3, 4, 5};
  int to[2] = {};
  shifted->pack(from, 1, reinterpret_cast<std::byte*>(to));
  EXPECT_EQ(to[0], 3);
  EXPECT_EQ(to[1], 4);
}

}  // namespace
}  // namespace headway::datatypes
