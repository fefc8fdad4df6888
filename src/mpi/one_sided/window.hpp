#pragma once

#include <mpi.h>

#include "mpi/objects/attributes.hpp"
#include "mpi/objects/errhandler.hpp"
#include "mpi/objects/object.hpp"

namespace headway::mpi {

/// A window of one-sided communication (MPI-5.0 chapter 12). No call makes one yet; the type is
/// what handles, attributes and error handlers of windows are checked against.
class window final : public object {
 public:
  using handle = MPI_Win;
  static constexpr object_kind object_kind_of = object_kind::win;
  static constexpr std::uintptr_t null_value = 0x110;

  errhandler_ref handler;
  attribute_set attributes;
};

}  // namespace headway::mpi
