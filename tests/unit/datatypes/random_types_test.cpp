// Goal:   a layout describes the same bytes as the standard's type map, for any nesting.
// Method: random types beside a naive type map; bounds, packing, packing in pieces and unpacking
//         compared. Seeds are the numbers from 0; a failure prints its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "type_map.hpp"

namespace headway::datatypes::test {
namespace {

constexpr std::uint64_t seeds = 3000;

/// A buffer that holds `count` elements of a type wherever its bounds lie, filled with noise.
struct field {
  std::vector<std::byte> bytes;
  std::int64_t origin = 0;

  field(const type_map& type, std::int64_t count, std::uint64_t seed) {
    const auto way = (count - 1) * type.extent();
    const auto low = type.true_lb() + std::min<std::int64_t>(way, 0);
    const auto high = type.true_ub() + std::max<std::int64_t>(way, 0);
    origin = 16 - low;
    bytes.resize(static_cast<std::size_t>(high - low + 32));
    std::mt19937_64 noise(seed);
    for (auto& b : bytes) b = static_cast<std::byte>(noise());
  }
  std::byte* at() { return bytes.data() + origin; }
};

bool elements_overlap(const type_map& type, std::int64_t count) {
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  for (std::int64_t i = 0; i < count; ++i) {
    for (const auto& e : type.elements) {
      const auto at = e.offset + i * type.extent();
      spans.emplace_back(at, at + layout::of(e.kind).size());
    }
  }
  std::ranges::sort(spans);
  for (std::size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].first < spans[i - 1].second) return true;
  }
  return false;
}

std::vector<std::byte> pack_in_pieces(const layout& type, const void* from, std::int64_t count,
                                      std::uint64_t seed) {
  std::mt19937_64 d(seed);
  const auto total = count * type.size();
  std::vector<std::byte> packed(static_cast<std::size_t>(total));
  std::int64_t done = 0;
  while (done < total) {
    const auto next = std::min(total, done + static_cast<std::int64_t>(d() % 37));
    type.pack(from, count, done, next, packed.data() + done);
    done = next;
  }
  return packed;
}

TEST(random_types, have_the_bounds_that_the_standard_defines) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(seed);
    const auto [made, reference] = random_type(seed, static_cast<int>(seed % 4));
    EXPECT_EQ(made->size(), reference.size());
    EXPECT_EQ(made->lb(), reference.lb());
    EXPECT_EQ(made->ub(), reference.ub());
    EXPECT_EQ(made->elements(), static_cast<std::int64_t>(reference.elements.size()));
    if (reference.size() == 0) continue;
    EXPECT_EQ(made->true_lb(), reference.true_lb());
    EXPECT_EQ(made->true_ub(), reference.true_ub());
    if (HasFailure()) return;
  }
}

TEST(random_types, pack_the_bytes_that_the_type_map_lists_in_its_order) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(seed);
    const auto [made, reference] = random_type(seed, static_cast<int>(seed % 4));
    const auto count = static_cast<std::int64_t>(seed % 4);
    field from(reference, count, seed);
    const auto expected = reference.pack(from.at(), count);
    std::vector<std::byte> packed(expected.size());
    made->pack(from.at(), count, packed.data());
    EXPECT_EQ(packed, expected);
    EXPECT_EQ(pack_in_pieces(*made, from.at(), count, seed), expected);
    if (made->is_one_block(count) && !expected.empty()) {
      EXPECT_EQ(std::memcmp(from.at() + made->true_lb(), expected.data(), expected.size()), 0);
    }
    if (count > 0 && made->size() > 0) {
      EXPECT_LE(from.origin + made->reach(count)->begin, from.origin + made->true_lb());
    }
    if (HasFailure()) return;
  }
}

TEST(random_types, list_the_blocks_of_any_part_of_the_packed_form) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(seed);
    const auto [made, reference] = random_type(seed, static_cast<int>(seed % 4));
    const auto count = static_cast<std::int64_t>(seed % 4);
    field from(reference, count, seed);
    const auto packed = reference.pack(from.at(), count);
    const auto total = static_cast<std::int64_t>(packed.size());
    const auto begin = total / 3, end = total - total / 4;
    std::vector<std::byte> listed;
    made->for_each_block(count, begin, end, [&](std::int64_t offset, std::int64_t bytes) {
      listed.insert(listed.end(), from.at() + offset, from.at() + offset + bytes);
    });
    EXPECT_EQ(listed, std::vector<std::byte>(packed.begin() + begin, packed.begin() + end));
    if (HasFailure()) return;
  }
}

TEST(random_types, unpack_what_was_packed_and_touch_nothing_else) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(seed);
    const auto [made, reference] = random_type(seed, static_cast<int>(seed % 4));
    const auto count = static_cast<std::int64_t>(seed % 4);
    if (elements_overlap(reference, count)) continue;  // not allowed in a receive
    field from(reference, count, seed), to(reference, count, seed + 1);
    auto expected = to.bytes;
    for (std::int64_t i = 0; i < count; ++i) {
      for (const auto& e : reference.elements) {
        const auto at = from.origin + e.offset + i * reference.extent();
        std::memcpy(expected.data() + at, from.bytes.data() + at,
                    static_cast<std::size_t>(layout::of(e.kind).size()));
      }
    }
    const auto packed = pack_in_pieces(*made, from.at(), count, seed);
    const auto total = static_cast<std::int64_t>(packed.size());
    const auto middle = total / 3;
    made->unpack(packed.data(), 0, middle, to.at(), count);
    made->unpack(packed.data() + middle, middle, total, to.at(), count);
    EXPECT_EQ(to.bytes, expected);
    if (HasFailure()) return;
  }
}

TEST(random_types, count_the_elements_in_any_number_of_bytes) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(seed);
    const auto [made, reference] = random_type(seed, static_cast<int>(seed % 4));
    std::vector<std::int64_t> ends = {0};  // bytes at which an element has just ended
    for (int round = 0; round < 2; ++round) {
      for (const auto& e : reference.elements) {
        ends.push_back(ends.back() + layout::of(e.kind).size());
      }
    }
    std::int64_t elements = 0;
    for (std::int64_t bytes = 0; bytes <= ends.back(); ++bytes) {
      const bool at_end = ends[static_cast<std::size_t>(elements)] == bytes;
      EXPECT_EQ(made->elements_in(bytes), at_end ? elements : -1) << bytes << " bytes";
      if (at_end) ++elements;
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace headway::datatypes::test
