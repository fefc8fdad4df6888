#include "datatypes/build.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "datatypes/facts.hpp"

namespace headway::datatypes {
namespace {

constexpr auto huge = std::numeric_limits<std::int64_t>::max() / 2;

plan_ptr plan_of(const layout& l) { return layout_facts::of(l).plan.plan; }

TEST(build, refuses_what_does_not_fit_into_64_bits) {
  const auto& real = layout::of(number::float64);
  EXPECT_FALSE(build_contiguous(huge, real));
  EXPECT_FALSE(build_vector(2, 1, huge, real));
  EXPECT_FALSE(build_hvector(huge, 1, 16, real));
  EXPECT_FALSE(build_resized(huge, huge + 2, real));
  const std::int64_t blocks[] = {1}, far[] = {huge};
  EXPECT_FALSE(build_indexed(blocks, far, real));
  const std::int64_t sizes[] = {huge, 4}, one[] = {1, 1}, zero[] = {0, 0};
  EXPECT_FALSE(build_subarray(sizes, one, zero, storage_order::c, real));
}

TEST(build, takes_counts_beyond_32_bits) {
  const auto wide = build_contiguous(std::int64_t{1} << 40, layout::of(number::float64)).value();
  EXPECT_EQ(wide->size(), std::int64_t{1} << 43);
  EXPECT_EQ(wide->elements_in(16), 2);
  EXPECT_TRUE(wide->is_contiguous());
}

TEST(build, refuses_a_part_outside_its_array) {
  const std::int64_t sizes[] = {4}, subsizes[] = {3}, starts[] = {2};
  const auto made =
      build_subarray(sizes, subsizes, starts, storage_order::c, layout::of(number::int8));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, base::fault_kind::bad_input);
}

TEST(build, refuses_blocks_that_do_not_cover_a_distributed_dimension) {
  const darray_dimension short_of[] = {
      {.size = 10, .how = distribution::block, .argument = 3, .processes = 3}};
  EXPECT_FALSE(build_darray(0, short_of, storage_order::c, layout::of(number::int8)));
}

TEST(build, folds_a_dense_vector_into_one_block) {
  const auto dense = build_vector(10, 3, 3, layout::of(number::int32)).value();
  EXPECT_TRUE(dense->is_contiguous());
  EXPECT_EQ(plan_of(*dense)->shape, plan::form::block);
}

TEST(build, folds_a_row_of_vectors_into_one_loop) {
  const auto column = build_vector(4, 1, 2, layout::of(number::float64)).value();
  const auto padded = build_resized(0, 64, *column).value();
  const auto plan = plan_of(*build_contiguous(5, *padded).value());
  EXPECT_EQ(plan->shape, plan::form::loop);
  EXPECT_EQ(plan->count, 20);
  EXPECT_EQ(plan->child->shape, plan::form::block);
}

TEST(build, finds_the_loop_in_equally_spaced_blocks) {
  const std::int64_t places[] = {0, 5, 10, 15};
  const auto plan = plan_of(*build_indexed_block(2, places, layout::of(number::int32)).value());
  EXPECT_EQ(plan->shape, plan::form::loop);
  EXPECT_EQ(plan->count, 4);
  EXPECT_EQ(plan->stride, 20);
}

TEST(build, joins_blocks_that_touch) {
  const std::int64_t blocks[] = {1, 1, 2}, places[] = {0, 4, 8};
  const layout* types[] = {&layout::of(number::int32), &layout::of(number::float32),
                           &layout::of(number::int8)};
  const auto made = build_struct(blocks, places, types).value();
  EXPECT_EQ(plan_of(*made)->shape, plan::form::block);
  EXPECT_TRUE(made->is_one_block(1));
  EXPECT_FALSE(made->is_one_block(2)) << "two bytes of padding between them";
}

TEST(build, keeps_the_old_type_alive_through_the_new_one) {
  layout_ptr outer;
  {
    const auto inner = build_vector(3, 1, 2, layout::of(number::int16)).value();
    outer = build_hvector(2, 1, 100, *inner).value();
  }
  const std::int16_t from[60] = {1, 0, 2, 0, 3};
  std::byte packed[12];
  outer->pack(from, 1, packed);
  EXPECT_EQ(reinterpret_cast<std::int16_t*>(packed)[2], 3);
}

TEST(build, a_duplicate_is_the_same_type) {
  const auto copy = build_dup(layout::of(number::int32)).value();
  EXPECT_EQ(copy->kind(), number::int32);
}

}  // namespace
}  // namespace headway::datatypes
