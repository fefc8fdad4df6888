#pragma once

#include "mpi/datatypes/datatype.hpp"

namespace headway::mpi {

/// Whether it is one of the datatypes of MPI_Type_create_f90_*, which are made once for each
/// precision and range and never freed (MPI-5.0 section 19.1.9).
[[nodiscard]] bool is_fortran_kind(const datatype& type) noexcept;

/// The datatype for a precision and range. `combiner`: MPI_COMBINER_F90_INTEGER, _REAL or _COMPLEX.
/// Null: no kind is so wide.
/// Threads:  any; a lock.
[[nodiscard]] datatype* fortran_kind(int combiner, int precision, int range);

}  // namespace headway::mpi
