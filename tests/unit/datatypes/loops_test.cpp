// Goal:   the loops of packing and unpacking move the bytes that the list of blocks names.
// Method: types that reach every loop (each size of block, the strides with loops of their own,
//         rounds that are copied together, rounds that are not), each packed and unpacked whole and
//         cut anywhere, against copies of the listed blocks one after the other.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "datatypes/build.hpp"

namespace headway::datatypes {
namespace {

/// A buffer for `count` elements of a type, filled with noise.
struct field {
  field(const layout& type, std::int64_t count, unsigned seed)
      : bytes(static_cast<std::size_t>(type.reach(count)->bytes() + 32)),
        origin(16 - type.reach(count)->begin) {
    std::mt19937 draw(seed);
    for (auto& b : bytes) b = static_cast<std::byte>(draw());
  }
  std::byte* at() { return bytes.data() + origin; }
  std::vector<std::byte> bytes;
  std::int64_t origin;
};

void check(const layout& type, std::int64_t count) {
  const std::int64_t total = type.size() * count;
  field from(type, count, 1), to(type, count, 2);
  std::vector<std::byte> expected;
  auto unpacked = to.bytes;
  type.for_each_block(count, 0, total, [&](std::int64_t offset, std::int64_t bytes) {
    const std::byte* const block = from.at() + offset;
    expected.insert(expected.end(), block, block + bytes);
    std::memcpy(unpacked.data() + to.origin + offset, block, static_cast<std::size_t>(bytes));
  });
  ASSERT_EQ(static_cast<std::int64_t>(expected.size()), total);
  std::vector<std::byte> packed(expected.size());
  type.pack(from.at(), count, packed.data());
  EXPECT_TRUE(packed == expected) << "packed whole";
  auto whole = to;
  whole.bytes = to.bytes;
  type.unpack(expected.data(), whole.at(), count);
  EXPECT_TRUE(whole.bytes == unpacked) << "unpacked whole";
  std::mt19937 draw(3);
  for (int i = 0; i < 20; ++i) {
    const std::int64_t cut = static_cast<std::int64_t>(draw()) % (total + 1);
    std::vector<std::byte> halves(expected.size());
    type.pack(from.at(), count, 0, cut, halves.data());
    type.pack(from.at(), count, cut, total, halves.data() + cut);
    EXPECT_TRUE(halves == expected) << "packed, cut at " << cut;
    auto parts = to;
    type.unpack(expected.data() + cut, cut, total, parts.at(), count);
    type.unpack(expected.data(), 0, cut, parts.at(), count);
    EXPECT_TRUE(parts.bytes == unpacked) << "unpacked, cut at " << cut;
  }
}

const layout& byte_type() { return layout::of(number::byte); }

struct block_loops : testing::TestWithParam<std::int64_t> {};

TEST_P(block_loops, move_blocks_of_this_size_at_every_stride) {
  const std::int64_t block = GetParam();
  for (const std::int64_t stride : {block + 1, 2 * block, 3 * block, -block - 2, -2 * block})
    for (const std::int64_t count : {2, 5, 300}) {
      SCOPED_TRACE(testing::Message() << count << " times, stride " << stride);
      check(*build_hvector(count, block, stride, byte_type()).value(), 1);
    }
}

INSTANTIATE_TEST_SUITE_P(sizes, block_loops,
                         testing::Values(1, 2, 3, 4, 5, 7, 8, 11, 12, 15, 16, 24, 31, 32, 33, 48,
                                         63, 64, 65, 128, 1000));

TEST(loops, move_structs_of_odd_members_together) {
  const std::int64_t lengths[] = {1, 1, 3}, places[] = {0, 8, 16};
  const layout* const kinds[] = {&layout::of(number::float64), &layout::of(number::int32),
                                 &byte_type()};
  const auto members = build_struct(lengths, places, kinds).value();
  for (const std::int64_t extent : {24, 19, 64, -24, 4096}) {
    const auto one = build_resized(0, extent, *members).value();
    for (const std::int64_t count : {1, 3, 4, 1000}) check(*one, count);
  }
}

TEST(loops, move_nested_vectors_short_and_long) {
  for (const std::int64_t inner : {2, 4, 16, 17, 100}) {
    const auto row = build_vector(inner, 1, 3, layout::of(number::int32)).value();
    for (const std::int64_t outer : {2, 9, 200})
      check(*build_hvector(outer, 1, 12 * inner + 8, *row).value(), 2);
    const auto plane = build_hvector(5, 1, 12 * inner, *row).value();
    check(*build_hvector(7, 1, 80 * inner, *plane).value(), 1);
  }
}

TEST(loops, move_blocks_at_irregular_places_and_types_made_of_them) {
  std::vector<std::int64_t> lengths, places;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < 500; ++i) {
    lengths.push_back(1 + i * 5 % 7);
    places.push_back(at);
    at += lengths.back() + 1 + i % 3;
  }
  for (const auto kind : {number::int8, number::int32, number::float64}) {
    const auto one = build_indexed(lengths, places, layout::of(kind)).value();
    check(*one, 1);
    check(*one, 3);
    check(*build_hvector(2, 1, 10'000, *one).value(), 1);
  }
  const std::int64_t few_lengths[] = {2, 1, 4}, few_places[] = {9, 0, 3};
  const auto few = build_indexed(few_lengths, few_places, layout::of(number::int16)).value();
  check(*build_resized(-2, 40, *few).value(), 333);
}

}  // namespace
}  // namespace headway::datatypes
