#pragma once

#include <cstddef>
#include <cstdint>

namespace headway::mpi::fortran {

/// How a procedure with BIND(C) receives TYPE(*), DIMENSION(..) and CHARACTER(LEN=*): CFI_cdesc_t
/// of Fortran 2018. Compilers differ in the fields between `rank` and `dimensions`, which are not
/// read.
struct descriptor {
  struct dimension {
    std::ptrdiff_t lower_bound;
    std::ptrdiff_t extent;  ///< -1 for the last dimension of an array of unknown size
    std::ptrdiff_t stride_bytes;
  };
  void* address;
  std::size_t element_bytes;
  int version;
  std::int8_t rank;
  std::int8_t not_read[3];
  static constexpr int dimensions_max = 15;
  dimension dimensions[dimensions_max];  ///< the first `rank` of them exist
};
static_assert(offsetof(descriptor, dimensions) == 24);

/// Whether the elements lie one behind the other, or have no bytes.
inline bool is_contiguous(const descriptor& array) noexcept {
  auto expected = static_cast<std::ptrdiff_t>(array.element_bytes);
  for (int i = 0; i < array.rank; ++i) {
    const auto& dimension = array.dimensions[i];
    if (dimension.extent == 0) return true;
    if (dimension.extent != 1 && dimension.stride_bytes != expected)
      return array.element_bytes == 0;
    expected *= dimension.extent;
  }
  return true;
}

}  // namespace headway::mpi::fortran
