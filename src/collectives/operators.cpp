#include "collectives/operators.hpp"

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "datatypes/layout.hpp"

namespace headway::collectives {
namespace {

using datatypes::number;

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;
#ifdef __SIZEOF_FLOAT128__
__extension__ using float128 = __float128;
#else
using float128 = long double;  // 128 bits wide where there is no __float128
#endif

/// A value with its index. Equal values keep the lower index.
template <class Value, class Index = std::int32_t>
struct indexed {
  Value value;
  Index index;
};

template <class T>
constexpr bool is_integer = std::is_integral_v<T> || std::is_same_v<T, int128>;

/// Integers are added and multiplied without sign, so that what does not fit wraps around.
template <class T>
using unsigned_of = std::conditional_t<sizeof(T) <= 4, std::uint32_t,
                                       std::conditional_t<sizeof(T) <= 8, std::uint64_t, uint128>>;

struct max_of {
  template <class T>
  static T of(T left, T right) noexcept {
    return left > right ? left : right;
  }
};
struct min_of {
  template <class T>
  static T of(T left, T right) noexcept {
    return left < right ? left : right;
  }
};
struct sum_of {
  template <class T>
  static T of(T left, T right) noexcept {
    if constexpr (is_integer<T>)
      return static_cast<T>(static_cast<unsigned_of<T>>(left) + static_cast<unsigned_of<T>>(right));
    else return static_cast<T>(left + right);
  }
};
struct prod_of {
  template <class T>
  static T of(T left, T right) noexcept {
    if constexpr (is_integer<T>)
      return static_cast<T>(static_cast<unsigned_of<T>>(left) * static_cast<unsigned_of<T>>(right));
    else return static_cast<T>(left * right);
  }
  // The textbook product: the library's own looks for infinities, which costs the vector units.
  template <class T>
  static std::complex<T> of(std::complex<T> a, std::complex<T> b) noexcept {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
};
struct land_of {
  template <class T>
  static T of(T left, T right) noexcept {
    return static_cast<T>(left != 0 && right != 0);
  }
};
struct lor_of {
  template <class T>
  static T of(T left, T right) noexcept {
    return static_cast<T>(left != 0 || right != 0);
  }
};
struct lxor_of {
  template <class T>
  static T of(T left, T right) noexcept {
    return static_cast<T>((left != 0) != (right != 0));
  }
};
struct band_of {
  template <class T>
  static T of(T left, T right) noexcept {
    return static_cast<T>(left & right);
  }
};
struct bor_of {
  template <class T>
  static T of(T left, T right) noexcept {
    return static_cast<T>(left | right);
  }
};
struct bxor_of {
  template <class T>
  static T of(T left, T right) noexcept {
    return static_cast<T>(left ^ right);
  }
};
struct maxloc_of {
  template <class P>
  static P of(P left, P right) noexcept {
    if (left.value == right.value) return left.index < right.index ? left : right;
    return left.value > right.value ? left : right;
  }
};
struct minloc_of {
  template <class P>
  static P of(P left, P right) noexcept {
    if (left.value == right.value) return left.index < right.index ? left : right;
    return left.value < right.value ? left : right;
  }
};

template <class Op, class T>
void apply(const reducer&, const void* left, void* right, std::int64_t count) noexcept {
  const T* __restrict a = static_cast<const T*>(left);
  T* __restrict b = static_cast<T*>(right);
  for (std::int64_t i = 0; i < count; ++i) b[i] = Op::of(a[i], b[i]);
}

template <class Op>
constexpr reducer::function on_integer(number kind) noexcept {
  switch (kind) {
    case number::int8:
      return apply<Op, std::int8_t>;
    case number::text8:  // not in the standard, but programs do it: see operators.hpp
      return apply<Op, std::conditional_t<std::is_signed_v<char>, std::int8_t, std::uint8_t>>;
    case number::int16:
      return apply<Op, std::int16_t>;
    case number::int32:
      return apply<Op, std::int32_t>;
    case number::int64:
      return apply<Op, std::int64_t>;
    case number::int128:
      return apply<Op, int128>;
    case number::uint8:
      return apply<Op, std::uint8_t>;
    case number::uint16:
      return apply<Op, std::uint16_t>;
    case number::uint32:
      return apply<Op, std::uint32_t>;
    case number::uint64:
      return apply<Op, std::uint64_t>;
    case number::c_long:
      return apply<Op, long>;
    case number::c_unsigned_long:
      return apply<Op, unsigned long>;
    default:
      return nullptr;
  }
}

template <class Op>
constexpr reducer::function on_real(number kind) noexcept {
  switch (kind) {
    case number::float32:
      return apply<Op, float>;
    case number::float64:
      return apply<Op, double>;
    case number::long_double:
      return apply<Op, long double>;
    case number::float128:
      return apply<Op, float128>;
    default:
      return on_integer<Op>(kind);
  }
}

template <class T>
struct two {  // std::complex is specified for the standard's own floating types only
  T re, im;
};
struct complex128_sum {
  static two<float128> of(two<float128> a, two<float128> b) noexcept {
    return {a.re + b.re, a.im + b.im};
  }
};
struct complex128_prod {
  static two<float128> of(two<float128> a, two<float128> b) noexcept {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

template <class Op>
constexpr reducer::function on_arithmetic(number kind) noexcept {
  switch (kind) {
    case number::complex32:
      return apply<Op, std::complex<float>>;
    case number::complex64:
      return apply<Op, std::complex<double>>;
    case number::complex_long_double:
      return apply<Op, std::complex<long double>>;
    case number::complex128:
      return std::is_same_v<Op, sum_of> ? apply<complex128_sum, two<float128>>
                                        : apply<complex128_prod, two<float128>>;
    default:
      return on_real<Op>(kind);
  }
}

template <class Op>
constexpr reducer::function on_logical(number kind) noexcept {
  switch (kind) {
    case number::bool8:
    case number::logical8:
      return apply<Op, std::uint8_t>;
    case number::logical16:
      return apply<Op, std::uint16_t>;
    case number::logical32:
      return apply<Op, std::uint32_t>;
    case number::logical64:
      return apply<Op, std::uint64_t>;
    case number::logical128:
      return apply<Op, int128>;
    default:
      return on_integer<Op>(kind);
  }
}

template <class Op>
constexpr reducer::function on_bits(number kind) noexcept {
  return kind == number::byte ? apply<Op, std::uint8_t> : on_integer<Op>(kind);
}

template <class Op>
constexpr reducer::function on_pair(number kind) noexcept {
  switch (kind) {
    case number::float_int:
      return apply<Op, indexed<float>>;
    case number::double_int:
      return apply<Op, indexed<double>>;
    case number::long_int:
      return apply<Op, indexed<long>>;
    case number::int_int:
      return apply<Op, indexed<std::int32_t>>;
    case number::short_int:
      return apply<Op, indexed<short>>;
    case number::long_double_int:
      return apply<Op, indexed<long double>>;
    case number::float_float:
      return apply<Op, indexed<float, float>>;
    case number::double_double:
      return apply<Op, indexed<double, double>>;
    default:
      return nullptr;
  }
}

void replace(const reducer& self, const void* left, void* right, std::int64_t count) noexcept {
  const auto bytes = static_cast<const datatypes::layout*>(self.type)->extent() * count;
  std::memcpy(right, left, static_cast<std::size_t>(bytes));
}

void leave(const reducer&, const void*, void*, std::int64_t) noexcept {}

constexpr reducer::function function_of(operation op, number kind) noexcept {
  switch (op) {
    case operation::max:
      return on_real<max_of>(kind);
    case operation::min:
      return on_real<min_of>(kind);
    case operation::sum:
      return on_arithmetic<sum_of>(kind);
    case operation::prod:
      return on_arithmetic<prod_of>(kind);
    case operation::land:
      return on_logical<land_of>(kind);
    case operation::lor:
      return on_logical<lor_of>(kind);
    case operation::lxor:
      return on_logical<lxor_of>(kind);
    case operation::band:
      return on_bits<band_of>(kind);
    case operation::bor:
      return on_bits<bor_of>(kind);
    case operation::bxor:
      return on_bits<bxor_of>(kind);
    case operation::maxloc:
      return on_pair<maxloc_of>(kind);
    case operation::minloc:
      return on_pair<minloc_of>(kind);
    case operation::replace:
      return replace;
    case operation::no_op:
      return leave;
  }
  return nullptr;
}

using functions = std::array<reducer::function, datatypes::number_count>;

/// By operator and kind: the two choices above take as long as adding a few elements.
constexpr auto all_functions = [] {
  std::array<functions, static_cast<std::size_t>(operation::no_op) + 1> all{};
  for (std::size_t op = 0; op < all.size(); ++op)
    for (std::size_t kind = 0; kind < all[op].size(); ++kind)
      all[op][kind] = function_of(static_cast<operation>(op), static_cast<number>(kind));
  return all;
}();

}  // namespace

std::optional<reducer> predefined(operation op, number kind) noexcept {
  const auto function =
      kind == number::none
          ? nullptr
          : all_functions[static_cast<std::size_t>(op)][static_cast<std::size_t>(kind)];
  if (!function) return std::nullopt;
  reducer made{.apply = function};
  if (op == operation::replace) {
    made.commutative = false;
    made.type = const_cast<datatypes::layout*>(&datatypes::layout::of(kind));
  }
  return made;
}

}  // namespace headway::collectives
