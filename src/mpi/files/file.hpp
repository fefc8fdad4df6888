#pragma once

#include <mpi.h>

#include "mpi/objects/errhandler.hpp"
#include "mpi/objects/object.hpp"

namespace headway::mpi {

/// A file (MPI-5.0 chapter 14). Input and output are not implemented; MPI_FILE_NULL is an object
/// because the default error handler of files is set on it.
class file final : public object {
 public:
  using handle = MPI_File;
  static constexpr object_kind object_kind_of = object_kind::file;
  static constexpr std::uintptr_t null_value = 0x118;

  errhandler_ref handler;
  /// MPI_FILE_NULL.
  [[nodiscard]] static file& null();
};

}  // namespace headway::mpi
