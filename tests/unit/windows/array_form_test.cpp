#include "windows/array_form.hpp"

#include <gtest/gtest.h>

#include <array>

#include "datatypes/build.hpp"

namespace headway::windows {
namespace {

using datatypes::layout;
using datatypes::number;

struct short_int {
  short value;
  int index;
};

TEST(array_form, is_the_buffer_itself_where_elements_lie_in_a_row) {
  std::array<int, 4> ints{1, 2, 3, 4};
  auto* const at = reinterpret_cast<std::byte*>(ints.data());
  EXPECT_EQ(array_form({at, 4, &layout::of(number::int32)}, number::int32).data(), at);
  std::array<short_int, 2> pairs{};
  auto* const pairs_at = reinterpret_cast<std::byte*>(pairs.data());
  EXPECT_EQ(array_form({pairs_at, 2, &layout::of(number::short_int)}, number::short_int).data(),
            pairs_at);
}

TEST(array_form, brings_strided_elements_into_a_row_and_back) {
  const auto type = datatypes::build_vector(3, 1, 2, layout::of(number::int32)).value();
  std::array<int, 6> ints{1, -1, 2, -1, 3, -1};
  array_form form({reinterpret_cast<std::byte*>(ints.data()), 1, type.get()}, number::int32);
  form.read();
  auto* const row = reinterpret_cast<int*>(form.data());
  EXPECT_EQ(form.count(), 3);
  EXPECT_EQ(row[2], 3);
  for (int i = 0; i < 3; ++i) row[i] *= 10;
  form.write(1, 2);
  EXPECT_EQ(ints, (std::array<int, 6>{1, -1, 20, -1, 30, -1}));
}

TEST(array_form, of_pairs_with_gaps_is_an_array_of_pairs) {
  const auto type = datatypes::build_vector(2, 1, 2, layout::of(number::short_int)).value();
  std::array<short_int, 4> pairs{{{1, 10}, {2, 20}, {3, 30}, {4, 40}}};
  array_form form({reinterpret_cast<std::byte*>(pairs.data()), 1, type.get()}, number::short_int);
  form.read();
  auto* const row = reinterpret_cast<short_int*>(form.data());
  EXPECT_EQ(form.count(), 2);
  EXPECT_EQ(row[1].value, 3);
  EXPECT_EQ(row[1].index, 30);
  row[0] = {7, 70};
  form.write();
  EXPECT_EQ(pairs[0].value, 7);
  EXPECT_EQ(pairs[0].index, 70);
  EXPECT_EQ(pairs[1].index, 20);
}

}  // namespace
}  // namespace headway::windows
