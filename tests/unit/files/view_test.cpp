#include "files/view.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "datatypes/build.hpp"

namespace headway::files {
namespace {

namespace dt = datatypes;
using blocks = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Two bytes at 1 and three at 5 of each ten.
[[nodiscard]] view holes(std::int64_t displacement) {
  const std::int64_t lengths[] = {2, 3}, places[] = {1, 5};
  const auto inner = dt::build_hindexed(lengths, places, dt::layout::of(dt::number::byte)).value();
  return {.displacement = displacement, .filetype = dt::build_resized(0, 10, *inner).value()};
}

[[nodiscard]] blocks blocks_of(const view& v, std::int64_t begin, std::int64_t end) {
  blocks found;
  v.for_each_piece(begin, end,
                   [&](std::int64_t at, std::int64_t bytes) { found.emplace_back(at, bytes); });
  return found;
}

TEST(view, of_bytes_is_the_file) {
  const view all;
  EXPECT_TRUE(all.is_contiguous());
  EXPECT_EQ(all.offset_of(17), 17);
  EXPECT_EQ(all.position_of(17), 17);
  EXPECT_EQ(blocks_of(all, 3, 9), (blocks{{3, 6}}));
}

TEST(view, repeats_its_filetype_from_the_displacement_on) {
  const auto v = holes(100);
  EXPECT_EQ(blocks_of(v, 0, 10), (blocks{{101, 2}, {105, 3}, {111, 2}, {115, 3}}));
  EXPECT_EQ(blocks_of(v, 1, 4), (blocks{{102, 1}, {105, 2}}));
  EXPECT_EQ(blocks_of(v, 5'000'000'000 + 4, 5'000'000'000 + 6),
            (blocks{{10'000'000'107, 1}, {10'000'000'111, 1}}));
}

TEST(view, an_offset_is_that_of_the_byte_at_the_position) {
  const auto v = holes(0);
  const std::int64_t expected[] = {1, 2, 5, 6, 7, 11, 12, 15};
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(v.offset_of(i), expected[i]) << i;
}

TEST(view, a_position_counts_the_bytes_in_front_of_an_offset) {
  const auto v = holes(3);
  for (std::int64_t offset = 0; offset < 60; ++offset) {
    std::int64_t before = 0;
    while (v.offset_of(before) < offset) ++before;
    EXPECT_EQ(v.position_of(offset), before) << offset;
  }
}

TEST(view, a_position_counts_bytes_where_filetypes_reach_into_each_other) {
  const auto inner = dt::build_vector(2, 1, 4, dt::layout::of(dt::number::byte)).value();
  const view v{.displacement = 0, .filetype = dt::build_resized(0, 2, *inner).value()};
  // Bytes at 0 and 4, 2 and 6, 4 and 8, …
  EXPECT_EQ(v.position_of(1), 1);
  EXPECT_EQ(v.position_of(3), 2);
  EXPECT_EQ(v.position_of(5), 4);
}

TEST(view, a_filetype_needs_data_in_the_order_of_the_file) {
  const auto& byte = dt::layout::of(dt::number::byte);
  const std::int64_t lengths[] = {1, 1}, backwards[] = {4, 0}, before[] = {-2, 0};
  EXPECT_TRUE(view::is_usable(*holes(0).filetype));
  EXPECT_FALSE(view::is_usable(*dt::build_hindexed(lengths, backwards, byte).value()));
  EXPECT_FALSE(view::is_usable(*dt::build_hindexed(lengths, before, byte).value()));
  EXPECT_FALSE(view::is_usable(*dt::build_contiguous(0, byte).value()));
}

}  // namespace
}  // namespace headway::files
