#include "mpi/fortran/section_types.hpp"

#include "base/assert.hpp"

namespace headway::mpi::fortran {

type_range::type_range(MPI_Datatype type) {
  MPI_Count lower = 0;
  known_ = PMPI_Type_get_extent_c(type, &lower, &extent_) == MPI_SUCCESS &&
           PMPI_Type_get_true_extent_c(type, &first_, &bytes_) == MPI_SUCCESS;
}

temporary_type section_types::first(int dimension, MPI_Count units) const {
  HEADWAY_ASSERT(0 <= dimension && dimension <= array_.rank);
  HEADWAY_ASSERT(0 < units && units <= units_in(dimension));
  temporary_type made;
  if (dimension == 0) {
    PMPI_Type_contiguous_c(units, unit_, made.address());
    return made;
  }
  const MPI_Count part = units_in(dimension - 1);
  const MPI_Count whole_parts = units / part;
  const MPI_Count stride = array_.dimensions[dimension - 1].stride_bytes;
  temporary_type whole;
  const temporary_type one = first(dimension - 1, part);
  PMPI_Type_create_hvector_c(whole_parts, 1, stride, one.get(), whole.address());
  if (units % part == 0) return whole;
  const temporary_type rest = first(dimension - 1, units % part);
  const MPI_Count lengths[] = {1, 1};
  const MPI_Count places[] = {0, whole_parts * stride};
  const MPI_Datatype types[] = {whole.get(), rest.get()};
  PMPI_Type_create_struct_c(2, lengths, places, types, made.address());
  return made;
}

MPI_Count section_types::units_in(int dimension) const {
  MPI_Count units = units_each_;
  for (int i = 0; i < dimension; ++i) units *= array_.dimensions[i].extent;
  return units;
}

}  // namespace headway::mpi::fortran
