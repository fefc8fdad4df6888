#include "mpi/files/file.hpp"

namespace headway::mpi {

file& file::null() {
  static auto* const made = [] {
    auto* only = new file;
    only->handler = errhandler_ref(errors_return());
    define(*only, object_kind::file, null_value);
    return only;
  }();
  return *made;
}

namespace {
// Valid before MPI_Init, as the error handlers are.
[[maybe_unused]] const file& null_at_load = file::null();
}  // namespace

}  // namespace headway::mpi
