// The predefined types, as this machine's C compiler lays them out.
#include <array>
#include <cstddef>

#include "base/assert.hpp"
#include "datatypes/facts.hpp"

namespace headway::datatypes {
namespace {

struct shape {
  std::int64_t size;
  std::int64_t alignment;
};

template <class T>
constexpr shape shape_of{sizeof(T), alignof(T)};

shape basic_shape(number kind) noexcept {
  switch (kind) {
    case number::int8:
    case number::uint8:
    case number::bool8:
    case number::logical8:
    case number::byte:
    case number::text8:
    case number::packed:
      return shape_of<char>;
    case number::int16:
    case number::uint16:
    case number::logical16:
    case number::half:
      return shape_of<std::int16_t>;
    case number::int32:
    case number::uint32:
    case number::logical32:
      return shape_of<std::int32_t>;
    case number::int64:
    case number::uint64:
    case number::logical64:
      return shape_of<std::int64_t>;
    case number::c_long:
    case number::c_unsigned_long:
      return shape_of<long>;
    case number::int128:
    case number::logical128:
    case number::float128:
      return {16, 16};
    case number::float32:
      return shape_of<float>;
    case number::float64:
      return shape_of<double>;
    case number::long_double:
      return shape_of<long double>;
    case number::complex32:
      return {2 * sizeof(float), alignof(float)};
    case number::complex64:
      return {2 * sizeof(double), alignof(double)};
    case number::complex_long_double:
      return {2 * sizeof(long double), alignof(long double)};
    case number::complex128:
      return {32, 16};
    case number::text32:
      return shape_of<wchar_t>;
    case number::complex_half:
      return {4, 2};
    default:
      return {0, 1};
  }
}

layout_facts basic(number kind) {
  const auto [size, alignment] = basic_shape(kind);
  return {.size = size,
          .true_ub = size,
          .alignment = alignment,
          .kind = kind,
          .element_kind = kind,
          .plan = block_plan(size),
          .elements = run_signature(kind, 1)};
}

/// `struct { A a; B b; }` as the C compiler makes it.
layout_facts pair(number kind, number a, number b) {
  const auto second = basic_shape(b);
  const auto gap = basic_shape(a).size % second.alignment;
  facts_list both;
  both.add(basic(a));
  both.add(basic(b).moved(basic_shape(a).size + (gap == 0 ? 0 : second.alignment - gap)));
  auto made = both.finish();
  made.kind = made.element_kind = kind;
  return made;
}

layout_facts facts_of(number kind) {
  switch (kind) {
    case number::float_int:
      return pair(kind, number::float32, number::int32);
    case number::double_int:
      return pair(kind, number::float64, number::int32);
    case number::long_int:
      return pair(kind, number::c_long, number::int32);
    case number::int_int:
      return pair(kind, number::int32, number::int32);
    case number::short_int:
      return pair(kind, number::int16, number::int32);
    case number::long_double_int:
      return pair(kind, number::long_double, number::int32);
    case number::float_float:
      return pair(kind, number::float32, number::float32);
    case number::double_double:
      return pair(kind, number::float64, number::float64);
    default:
      return basic(kind);
  }
}

using table = std::array<const layout*, number_count>;

table make_table() {
  table made{};
  for (int i = 0; i < number_count; ++i) {
    made[static_cast<std::size_t>(i)] =
        layout_facts::new_predefined(facts_of(static_cast<number>(i)));
  }
  return made;
}

}  // namespace

std::int64_t bytes_of(number kind) noexcept { return basic_shape(kind).size; }

const layout& layout::of(number kind) noexcept {
  static const table predefined = make_table();
  HEADWAY_DEBUG_ASSERT(kind != number::none && static_cast<int>(kind) < number_count);
  return *predefined[static_cast<std::size_t>(kind)];
}

}  // namespace headway::datatypes
