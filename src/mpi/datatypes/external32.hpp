#pragma once

#include <cstddef>
#include <cstdint>

#include "datatypes/layout.hpp"

namespace headway::mpi {

/// The representation "external32" of MPI-5.0 section 14.5.2: big-endian, IEEE, with sizes that are
/// the same everywhere (a C long has 4 bytes, a wide character 2, a long double 16).

/// Bytes of `count` elements.
[[nodiscard]] std::int64_t external_size(const datatypes::layout& type, std::int64_t count);
/// Converts `count` elements from their packed form (layout::pack) to external32, and back.
void to_external(const datatypes::layout& type, std::int64_t count, const std::byte* packed,
                 std::byte* external);
void from_external(const datatypes::layout& type, std::int64_t count, const std::byte* external,
                   std::byte* packed);

}  // namespace headway::mpi
