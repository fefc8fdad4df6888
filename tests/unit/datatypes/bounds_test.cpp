#include <gtest/gtest.h>

#include <complex>

#include "datatypes/build.hpp"

namespace headway::datatypes {
namespace {

TEST(layout, of_pairs_is_that_of_the_c_structure) {
  struct double_int {
    double value;
    int index;
  };
  struct short_int {
    short value;
    int index;
  };
  struct long_double_int {
    long double value;
    int index;
  };
  EXPECT_EQ(layout::of(number::double_int).size(), 12);
  EXPECT_EQ(layout::of(number::double_int).extent(), sizeof(double_int));
  EXPECT_EQ(layout::of(number::double_int).true_extent(), 12);
  EXPECT_EQ(layout::of(number::short_int).size(), 6);
  EXPECT_EQ(layout::of(number::short_int).extent(), sizeof(short_int));
  EXPECT_EQ(layout::of(number::long_double_int).extent(), sizeof(long_double_int));
  EXPECT_FALSE(layout::of(number::double_int).is_contiguous());
  EXPECT_TRUE(layout::of(number::int_int).is_contiguous());
  EXPECT_EQ(layout::of(number::double_int).elements(), 2);
}

TEST(layout, pads_a_structure_to_its_strictest_member) {
  const std::int64_t blocks[] = {1, 1}, places[] = {0, 8};
  const layout* types[] = {&layout::of(number::float64), &layout::of(number::int8)};
  const auto made = build_struct(blocks, places, types).value();
  EXPECT_EQ(made->size(), 9);
  EXPECT_EQ(made->extent(), 16);
  EXPECT_EQ(made->true_extent(), 9);
}

// The extent is rounded up once, over the basic elements of the whole type map (MPI-5.0, 5.1): the
// padding that makes a part longer is in no type map, so the whole may end before it.
TEST(layout, pads_the_whole_and_not_the_parts_at_misaligned_places) {
  const auto& four = layout::of(number::int32);
  const auto padded = build_hvector(3, 4, 25, four).value();
  EXPECT_EQ(padded->true_ub(), 66);
  EXPECT_EQ(padded->extent(), 68);
  const auto whole = build_hvector(2, 3, 4 * padded->extent() + 1, *padded).value();
  EXPECT_EQ(whole->true_ub(), 475);
  EXPECT_EQ(whole->ub(), 476) << "the last part's padding would end at 477";
}

TEST(layout, lets_set_bounds_rule_in_all_types_built_from_it) {
  const auto wide = build_resized(-4, 20, layout::of(number::int32)).value();
  EXPECT_EQ(wide->lb(), -4);
  EXPECT_EQ(wide->extent(), 20);
  EXPECT_EQ(wide->true_lb(), 0);
  EXPECT_EQ(wide->true_extent(), 4);
  const auto row = build_contiguous(3, *wide).value();
  EXPECT_EQ(row->lb(), -4);
  EXPECT_EQ(row->ub(), -4 + 60);
  EXPECT_EQ(row->true_extent(), 44);
  const std::int64_t blocks[] = {1, 1}, places[] = {0, 100};
  const layout* types[] = {wide.get(), &layout::of(number::int32)};
  const auto both = build_struct(blocks, places, types).value();
  EXPECT_EQ(both->ub(), 16) << "the int at byte 100 has no bound of its own";
  EXPECT_EQ(both->true_ub(), 104);
}

TEST(layout, of_an_empty_type_is_all_zero) {
  const auto none = build_contiguous(0, layout::of(number::float64)).value();
  EXPECT_EQ(none->size(), 0);
  EXPECT_EQ(none->extent(), 0);
  EXPECT_EQ(none->elements_in(0), 0);
  EXPECT_EQ(none->elements_in(1), -1);
  none->pack(nullptr, 5, nullptr);
  none->unpack(nullptr, nullptr, 5);
}

void expect_reach(const layout& of, std::int64_t count, byte_range expected) {
  const auto found = of.reach(count);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->begin, expected.begin);
  EXPECT_EQ(found->end, expected.end);
}

TEST(layout, reaches_from_the_first_byte_of_its_elements_to_the_last) {
  const auto back = build_hvector(3, 1, -8, layout::of(number::int32)).value();
  expect_reach(*back, 1, {-16, 4});
  expect_reach(*back, 0, {0, 0});
  expect_reach(layout::of(number::int32), 10, {0, 40});
  const auto up = build_resized(0, 100, *back).value();
  expect_reach(*up, 3, {-16, 204});
  const auto down = build_resized(0, -100, *back).value();
  expect_reach(*down, 3, {-216, 4});
}

TEST(layout, does_not_reach_further_than_64_bits_say) {
  constexpr std::int64_t far = std::int64_t{1} << 62;
  const auto up = build_resized(0, far, layout::of(number::int32)).value();
  const auto down = build_resized(0, -far, layout::of(number::int32)).value();
  const auto back = build_hvector(2, 1, -8, *down).value();
  EXPECT_TRUE(up->reach(2).has_value());
  EXPECT_FALSE(up->reach(4).has_value()) << "the last element's place has more bits";
  EXPECT_TRUE(down->reach(3).has_value());
  EXPECT_FALSE(down->reach(4).has_value());
  expect_reach(*down, 3, {-2 * far, 4});
  EXPECT_FALSE(build_resized(0, -far, *back).value()->reach(3).has_value()) << "the lower bound";
  EXPECT_FALSE(layout::of(number::int64).reach(INT64_MAX / 8 + 1).has_value()) << "the end";
  EXPECT_TRUE(build_contiguous(0, *up).value()->reach(INT64_MAX).has_value());
}

}  // namespace
}  // namespace headway::datatypes
