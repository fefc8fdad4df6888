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

TEST(layout, spans_a_footprint_from_its_first_byte_on) {
  const auto back = build_hvector(3, 1, -8, layout::of(number::int32)).value();
  EXPECT_EQ(back->first_byte(1), -16);
  EXPECT_EQ(back->footprint(1), 20);
  EXPECT_EQ(back->footprint(0), 0);
  EXPECT_EQ(layout::of(number::int32).footprint(10), 40);
}

}  // namespace
}  // namespace headway::datatypes
