#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "datatypes/build.hpp"
#include "datatypes/signature.hpp"

namespace headway::datatypes {
namespace {

TEST(elements, of_a_uniform_type_are_known_by_kind) {
  const auto grid = build_vector(3, 2, 5, layout::of(number::float64)).value();
  EXPECT_EQ(grid->element_kind(), number::float64);
  EXPECT_EQ(grid->kind(), number::none);
  const std::int64_t blocks[] = {1, 1}, places[] = {0, 8};
  const layout* types[] = {&layout::of(number::float64), &layout::of(number::int8)};
  EXPECT_EQ(build_struct(blocks, places, types).value()->element_kind(), number::none);
}

TEST(elements, of_a_pair_are_its_two_halves) {
  const auto& pair = layout::of(number::double_int);
  EXPECT_EQ(pair.elements_in(8), 1);
  EXPECT_EQ(pair.elements_in(12), 2);
  EXPECT_EQ(pair.elements_in(20), 3);
  EXPECT_EQ(pair.elements_in(10), -1);
}

TEST(elements, are_visited_in_the_order_of_the_packed_form) {
  const std::int64_t blocks[] = {2, 3}, places[] = {0, 8};
  const layout* types[] = {&layout::of(number::int32), &layout::of(number::int8)};
  const auto record = build_struct(blocks, places, types).value();
  const auto row = build_contiguous(2, *record).value();
  std::vector<std::pair<number, std::int64_t>> seen;
  for_each_run(row->elements_tree(),
               [&](number kind, std::int64_t n) { seen.emplace_back(kind, n); });
  const std::vector<std::pair<number, std::int64_t>> expected = {
      {number::int32, 2}, {number::int8, 3}, {number::int32, 2}, {number::int8, 3}};
  EXPECT_EQ(seen, expected);
}

}  // namespace
}  // namespace headway::datatypes
