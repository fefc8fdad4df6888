#pragma once

#include <mpi.h>

#include "mpi/objects/attributes.hpp"
#include "mpi/objects/errhandler.hpp"
#include "mpi/objects/object.hpp"

namespace headway::mpi {

/// A window (MPI-5.0 chapter 12). One-sided communication is not implemented; this type is needed
/// to check handles, attributes and error handlers of windows.
class window final : public object {
 public:
  using handle = MPI_Win;
  static constexpr object_kind object_kind_of = object_kind::win;
  static constexpr std::uintptr_t null_value = 0x110;

  errhandler_ref handler;
  attribute_set attributes;
};

}  // namespace headway::mpi
