#include "mpi/fortran/section.hpp"

#include "base/assert.hpp"
#include "mpi/fortran/array_section.hpp"
#include "mpi/fortran/section_types.hpp"
#include "mpi/fortran/unrecorded.hpp"

namespace headway::mpi::fortran {

bool section::describe(const descriptor& array) {
  HEADWAY_ASSERT(count_ > 0 && !is_contiguous(array) && made_ == MPI_DATATYPE_NULL);
  const unrecorded calls;
  const type_range range(type_);
  const auto element_bytes = static_cast<MPI_Count>(array.element_bytes);
  if (!range.is_within_extent() || element_bytes % range.extent() != 0) return false;
  const section_types types(array, type_, element_bytes / range.extent());
  if (count_ > types.units_in(array.rank)) return false;
  made_ = types.first(array.rank, count_).release();
  PMPI_Type_commit(&made_);
  type_ = made_;
  count_ = 1;
  return true;
}

bool section::copy(const descriptor& array, section_copies& copies, bool written) {
  const unrecorded calls;
  const auto bytes = static_cast<MPI_Count>(array_section(array).bytes());
  if (!type_range(type_).is_within(bytes, count_)) return false;
  address_ = copies.copy_of(array, written);
  return address_ != nullptr;
}

void section::clean_up() {
  const unrecorded calls;
  PMPI_Type_free(&made_);
}

}  // namespace headway::mpi::fortran
