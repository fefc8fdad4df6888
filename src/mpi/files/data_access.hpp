#pragma once

#include <mpi.h>

#include <cstdint>
#include <string_view>

#include "files/access.hpp"
#include "mpi/datatypes/datatype.hpp"
#include "mpi/files/file.hpp"
#include "mpi/point_to_point/request.hpp"

namespace headway::mpi {

enum class file_pointer : std::uint8_t { explicit_offset, individual, shared, ordered };
/// Where an access begins, and whether all processes call together.
struct access_place {
  file_pointer pointer = file_pointer::individual;
  MPI_Offset offset = 0;  ///< in etypes, if explicit
  bool collective = false;
};

/// The memory of an access.
struct access_memory {
  void* buffer;
  MPI_Count count;
  datatype& type;
};

// What all calls that access data have in common. Each returns an MPI error code.
// Threads:  any, as of `file`.
// Progress: `access_now` and `end_split` wait until the data is moved, the others do not, but
//           `ordered` waits for all processes, and `shared` for an answer of the first one.

[[nodiscard]] int access_now(file& fh, files::direction way, const access_place& where,
                             const access_memory& memory, MPI_Status* status);
[[nodiscard]] int begin_access(file& fh, files::direction way, const access_place& where,
                               const access_memory& memory, request*& r);
/// `ending`: the name of the call that ends it.
[[nodiscard]] int begin_split(file& fh, files::direction way, const access_place& where,
                              const access_memory& memory, std::string_view ending);
[[nodiscard]] int end_split(file& fh, std::string_view ending, MPI_Status* status);

/// The position in bytes of the view that an explicit offset means.
[[nodiscard]] int explicit_position(const file& fh, MPI_Offset offset, std::int64_t& position);
/// Of MPI_File_seek and MPI_File_seek_shared: the position in bytes of the view. `now`: that of the
/// pointer.
[[nodiscard]] int sought(const file& fh, MPI_Offset offset, int whence, std::int64_t now,
                         std::int64_t& position);
/// Refuses what a file with MPI_MODE_SEQUENTIAL does not have.
[[nodiscard]] int refuse_sequential(const file& fh);

}  // namespace headway::mpi
