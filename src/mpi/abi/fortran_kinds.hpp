#pragma once

#include "mpi/datatypes/datatype.hpp"

namespace headway::mpi {

/// The datatypes that MPI_Type_create_f90_* hand out: made once per precision and range, never
/// freed, like predefined ones without a name (MPI-5.0 section 19.1.9).
[[nodiscard]] bool is_fortran_kind(const datatype& type) noexcept;

/// `combiner`: MPI_COMBINER_F90_INTEGER, _REAL or _COMPLEX. Null: no kind is that wide.
/// Threads: any; a lock.
[[nodiscard]] datatype* fortran_kind(int combiner, int precision, int range);

}  // namespace headway::mpi
