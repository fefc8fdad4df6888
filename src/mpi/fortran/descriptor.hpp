#pragma once

#include <mpi.h>

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
  dimension dimensions[15];  ///< the first `rank` of them exist
};
static_assert(offsetof(descriptor, dimensions) == 24);

/// Whether the elements lie one behind the other.
inline bool is_contiguous(const descriptor& array) noexcept {
  auto expected = static_cast<std::ptrdiff_t>(array.element_bytes);
  for (int i = 0; i < array.rank; ++i) {
    const auto& dimension = array.dimensions[i];
    if (dimension.extent == 0) return true;
    if (dimension.extent != 1 && dimension.stride_bytes != expected) return false;
    expected *= dimension.extent;
  }
  return true;
}

/// Calls the error handler of MPI_COMM_SELF for an array whose elements are not contiguous, in a
/// call that cannot take one.
[[gnu::cold]] int refuse_section();

/// A buffer of a call with its count and datatype. If it is an array section whose elements are not
/// contiguous, it is one element of a datatype that describes the section, and nothing is copied.
/// Shape:    `is_described` is false where the datatype divides the array's elements unevenly.
/// Threads:  one.
class section {
 public:
  section(const descriptor* array, MPI_Count count, int datatype);
  ~section() {
    if (made_ != MPI_DATATYPE_NULL) PMPI_Type_free(&made_);
  }
  section(const section&) = delete;
  section& operator=(const section&) = delete;

  [[nodiscard]] bool is_described() const noexcept { return described_; }
  [[nodiscard]] void* address() const noexcept { return address_; }
  [[nodiscard]] MPI_Count count() const noexcept { return count_; }
  [[nodiscard]] MPI_Datatype type() const noexcept { return type_; }

 private:
  void describe(const descriptor& array);

  void* address_;
  MPI_Count count_;
  MPI_Datatype type_;
  MPI_Datatype made_ = MPI_DATATYPE_NULL;
  bool described_ = true;
};

}  // namespace headway::mpi::fortran
