#include "mpi/datatypes/external32.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>

#include "base/assert.hpp"
#include "datatypes/signature.hpp"

namespace headway::mpi {
namespace {

using datatypes::number;

/// The conversion of one kind of element: `parts` numbers of `native` bytes become `external` bytes
/// each.
struct conversion {
  int parts;
  std::int64_t native;
  std::int64_t external;
  bool is_long_double;
  bool is_signed;
};

conversion conversion_of(number kind) {
  const auto bytes = datatypes::bytes_of(kind);
  switch (kind) {
    case number::c_long:
      return {1, bytes, 4, false, true};
    case number::c_unsigned_long:
      return {1, bytes, 4, false, false};
    case number::text32:
      return {1, bytes, 2, false, false};
    case number::long_double:
      return {1, bytes, 16, true, true};
    case number::complex_long_double:
      return {2, bytes / 2, 16, true, true};
    case number::complex_half:
    case number::complex32:
    case number::complex64:
    case number::complex128:
      return {2, bytes / 2, bytes / 2, false, true};
    default:
      return {1, bytes, bytes, false, true};
  }
}

void reverse_bytes(const std::byte* from, std::byte* to, std::int64_t bytes) {
  std::reverse_copy(from, from + bytes, to);
}

// External32 has IEEE quadruple precision; where long double is that, the casts change nothing.
#ifdef __SIZEOF_FLOAT128__
__extension__ using quadruple = __float128;
#else
using quadruple = long double;
#endif

/// Converts one number of the machine to big-endian bytes of another width.
void write_number(const conversion& c, const std::byte* native, std::byte* external) {
  static_assert(std::endian::native == std::endian::little);
  std::byte wide[16];
  HEADWAY_DEBUG_ASSERT(c.native <= std::ssize(wide) && c.external <= std::ssize(wide));
  std::memcpy(wide, native, static_cast<std::size_t>(c.native));
  if (c.is_long_double) {
    long double value;
    std::memcpy(&value, native, sizeof value);
    const auto quad = static_cast<quadruple>(value);
    std::memcpy(wide, &quad, sizeof quad);
  }
  reverse_bytes(wide, external, c.external);  // drops the high bytes if `external` is narrower
}

void read_number(const conversion& c, const std::byte* external, std::byte* native) {
  std::byte wide[16];
  HEADWAY_DEBUG_ASSERT(c.native <= std::ssize(wide) && c.external <= std::ssize(wide));
  const bool negative = c.is_signed && (std::to_integer<int>(external[0]) & 0x80) != 0;
  std::memset(wide, negative ? 0xff : 0, sizeof wide);
  reverse_bytes(external, wide, c.external);
  if (c.is_long_double) {
    quadruple quad;
    std::memcpy(&quad, wide, sizeof quad);
    const auto value = static_cast<long double>(quad);
    std::memset(native, 0, static_cast<std::size_t>(c.native));
    std::memcpy(native, &value, sizeof value);
    return;
  }
  std::memcpy(native, wide, static_cast<std::size_t>(c.native));
}

}  // namespace

std::int64_t external_size(const datatypes::layout& type, std::int64_t count) {
  HEADWAY_ASSERT(count >= 0);
  std::int64_t bytes = 0;
  if (type.size() == 0) return 0;
  datatypes::for_each_run(type.elements_tree(), [&](number kind, std::int64_t n) {
    const auto c = conversion_of(kind);
    bytes += n * c.parts * c.external;
  });
  return bytes * count;
}

void to_external(const datatypes::layout& type, std::int64_t count, const std::byte* packed,
                 std::byte* external) {
  for (std::int64_t i = 0; type.size() > 0 && i < count; ++i) {
    datatypes::for_each_run(type.elements_tree(), [&](number kind, std::int64_t n) {
      const auto c = conversion_of(kind);
      for (std::int64_t k = 0; k < n * c.parts; ++k) {
        write_number(c, packed, external);
        packed += c.native;
        external += c.external;
      }
    });
  }
}

void from_external(const datatypes::layout& type, std::int64_t count, const std::byte* external,
                   std::byte* packed) {
  for (std::int64_t i = 0; type.size() > 0 && i < count; ++i) {
    datatypes::for_each_run(type.elements_tree(), [&](number kind, std::int64_t n) {
      const auto c = conversion_of(kind);
      for (std::int64_t k = 0; k < n * c.parts; ++k) {
        read_number(c, external, packed);
        packed += c.native;
        external += c.external;
      }
    });
  }
}

}  // namespace headway::mpi
