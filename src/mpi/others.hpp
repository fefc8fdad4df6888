#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mpi/attributes.hpp"
#include "mpi/errhandler.hpp"
#include "mpi/object.hpp"

namespace headway::mpi {

class send_buffer;

/// A window: not implemented yet, no object of it is ever made.
class window final : public object {
 public:
  using handle = MPI_Win;
  static constexpr object_kind object_kind_of = object_kind::win;
  static constexpr std::uintptr_t null_value = 0x110;

  errhandler_ref handler;
  attribute_set attributes;
};

/// A file. Only MPI_FILE_NULL exists: it holds the default error handler of files.
class file final : public object {
 public:
  using handle = MPI_File;
  static constexpr object_kind object_kind_of = object_kind::file;
  static constexpr std::uintptr_t null_value = 0x118;

  errhandler_ref handler;
  [[nodiscard]] static file& null();
};

/// A session: a reason for the runtime to be up, with an error handler.
class session final : public object {
 public:
  using handle = MPI_Session;
  static constexpr object_kind object_kind_of = object_kind::session;
  static constexpr std::uintptr_t null_value = 0x120;

  errhandler_ref handler;
  std::vector<std::pair<std::string, std::string>> hints;
  std::shared_ptr<send_buffer> buffer;  ///< MPI_Session_attach_buffer
};

}  // namespace headway::mpi
