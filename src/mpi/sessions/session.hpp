#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mpi/objects/errhandler.hpp"
#include "mpi/objects/object.hpp"
#include "mpi/sessions/session_origin.hpp"

namespace headway::mpi {

/// A session (MPI-5.0 section 11.3). While one is open, the runtime is up.
class session final : public object {
 public:
  using handle = MPI_Session;
  static constexpr object_kind object_kind_of = object_kind::session;
  static constexpr std::uintptr_t null_value = 0x120;

  errhandler_ref handler;
  std::vector<std::pair<std::string, std::string>> hints;
  session_origin_ref origin = std::make_shared<session_origin>();
};

}  // namespace headway::mpi
