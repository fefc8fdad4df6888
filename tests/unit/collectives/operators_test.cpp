#include "collectives/operators.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <numeric>
#include <vector>

#include "datatypes/layout.hpp"

namespace headway::collectives {
namespace {

using datatypes::number;

template <class T>
std::vector<T> apply(operation op, number kind, std::vector<T> left, std::vector<T> right) {
  const auto r = predefined(op, kind).value();
  r.apply(r, left.data(), right.data(), static_cast<std::int64_t>(right.size()));
  return right;
}

template <class T>
void check_integers(number kind) {
  using v = std::vector<T>;
  const v a = {6, 0, 9, 1}, b = {3, 0, 12, 0};
  EXPECT_EQ(apply(operation::max, kind, a, b), (v{6, 0, 12, 1}));
  EXPECT_EQ(apply(operation::min, kind, a, b), (v{3, 0, 9, 0}));
  EXPECT_EQ(apply(operation::sum, kind, a, b), (v{9, 0, 21, 1}));
  EXPECT_EQ(apply(operation::prod, kind, a, b), (v{18, 0, 108, 0}));
  EXPECT_EQ(apply(operation::land, kind, a, b), (v{1, 0, 1, 0}));
  EXPECT_EQ(apply(operation::lor, kind, a, b), (v{1, 0, 1, 1}));
  EXPECT_EQ(apply(operation::lxor, kind, a, b), (v{0, 0, 0, 1}));
  EXPECT_EQ(apply(operation::band, kind, a, b), (v{2, 0, 8, 0}));
  EXPECT_EQ(apply(operation::bor, kind, a, b), (v{7, 0, 13, 1}));
  EXPECT_EQ(apply(operation::bxor, kind, a, b), (v{5, 0, 5, 1}));
}

TEST(operators, compute_with_integers_of_every_width) {
  check_integers<std::int8_t>(number::int8);
  check_integers<std::int16_t>(number::int16);
  check_integers<std::int32_t>(number::int32);
  check_integers<std::int64_t>(number::int64);
  check_integers<std::uint8_t>(number::uint8);
  check_integers<std::uint16_t>(number::uint16);
  check_integers<std::uint32_t>(number::uint32);
  check_integers<std::uint64_t>(number::uint64);
  check_integers<long>(number::c_long);
  check_integers<unsigned long>(number::c_unsigned_long);
}

TEST(operators, tell_signed_from_unsigned) {
  EXPECT_EQ(apply<std::int8_t>(operation::max, number::int8, {-1}, {1})[0], 1);
  EXPECT_EQ(apply<std::uint8_t>(operation::max, number::uint8, {255}, {1})[0], 255);
}

TEST(operators, wrap_integers_around_that_do_not_fit) {
  EXPECT_EQ(apply<std::int32_t>(operation::sum, number::int32, {INT32_MAX}, {2})[0], INT32_MIN + 1);
  EXPECT_EQ(apply<std::int64_t>(operation::prod, number::int64, {INT64_MAX}, {2})[0], -2);
  EXPECT_EQ(apply<std::uint16_t>(operation::prod, number::uint16, {UINT16_MAX}, {UINT16_MAX})[0],
            1);
}

template <class T>
void check_reals(number kind) {
  EXPECT_EQ(apply<T>(operation::sum, kind, {1.5}, {2.25})[0], T(3.75));
  EXPECT_EQ(apply<T>(operation::prod, kind, {1.5}, {2})[0], T(3));
  EXPECT_EQ(apply<T>(operation::max, kind, {-1.5}, {-2})[0], T(-1.5));
  EXPECT_EQ(apply<T>(operation::min, kind, {-1.5}, {-2})[0], T(-2));
}

TEST(operators, compute_with_reals) {
  check_reals<float>(number::float32);
  check_reals<double>(number::float64);
  check_reals<long double>(number::long_double);
}

template <class T>
void check_complex(number kind) {
  using c = std::complex<T>;
  EXPECT_EQ(apply<c>(operation::sum, kind, {{1, 2}}, {{3, -5}})[0], c(4, -3));
  EXPECT_EQ(apply<c>(operation::prod, kind, {{1, 2}}, {{3, -5}})[0], c(13, 1));
  EXPECT_FALSE(predefined(operation::max, kind)) << "complex numbers have no order";
}

TEST(operators, add_and_multiply_complex_numbers) {
  check_complex<float>(number::complex32);
  check_complex<double>(number::complex64);
  check_complex<long double>(number::complex_long_double);
}

struct double_int {
  double value;
  int index;
};

TEST(operators, find_extremes_and_keep_the_lowest_index_of_equals) {
  const auto least =
      apply<double_int>(operation::minloc, number::double_int, {{2.0, 7}, {1.0, 4}, {5.0, 1}},
                        {{2.0, 3}, {3.0, 2}, {4.0, 9}});
  EXPECT_EQ(least[0].index, 3);
  EXPECT_EQ(least[1].index, 4);
  EXPECT_EQ(least[2].index, 9);
  const auto most = apply<double_int>(operation::maxloc, number::double_int, {{2.0, 7}, {1.0, 4}},
                                      {{2.0, 8}, {3.0, 2}});
  EXPECT_EQ(most[0].index, 7);
  EXPECT_EQ(most[1].index, 2);
}

TEST(operators, treat_any_nonzero_logical_as_true) {
  EXPECT_EQ(apply<std::int32_t>(operation::land, number::logical32, {-1}, {2})[0], 1);
  EXPECT_EQ(apply<std::uint8_t>(operation::lxor, number::bool8, {1}, {1})[0], 0);
}

TEST(operators, refuse_what_the_standard_does_not_admit) {
  for (const auto kind : {number::text32, number::packed, number::half}) {
    for (int op = 0; op <= static_cast<int>(operation::minloc); ++op) {
      EXPECT_FALSE(predefined(static_cast<operation>(op), kind));
    }
  }
  EXPECT_FALSE(predefined(operation::sum, number::byte));
  EXPECT_TRUE(predefined(operation::band, number::byte));
  EXPECT_FALSE(predefined(operation::band, number::float64));
  EXPECT_FALSE(predefined(operation::land, number::float64));
  EXPECT_FALSE(predefined(operation::sum, number::bool8));
  EXPECT_FALSE(predefined(operation::sum, number::double_int));
  EXPECT_FALSE(predefined(operation::maxloc, number::int32));
  EXPECT_FALSE(predefined(operation::sum, number::none));
}

TEST(operators, compute_with_characters_like_small_integers) {
  EXPECT_EQ(apply<char>(operation::sum, number::text8, {3, 100}, {4, 27}),
            (std::vector<char>{7, 127}));
  EXPECT_EQ(apply<char>(operation::max, number::text8, {'a'}, {'b'})[0], 'b');
  EXPECT_EQ(apply<char>(operation::bor, number::text8, {1}, {2})[0], 3);
}

TEST(operators, compute_with_128_bits) {
  __extension__ using wide = __int128;
  const wide big = static_cast<wide>(1) << 100;
  EXPECT_TRUE(apply<wide>(operation::sum, number::int128, {big}, {1})[0] == big + 1);
}

TEST(operators, replace_and_leave_for_accumulate) {
  EXPECT_EQ(apply<int>(operation::replace, number::int32, {1, 2}, {3, 4})[1], 2);
  EXPECT_EQ(apply<int>(operation::no_op, number::int32, {1, 2}, {3, 4})[1], 4);
}

}  // namespace
}  // namespace headway::collectives
