#pragma once

#include <mpi.h>

#include <string_view>

#include "mpi/fortran/descriptor.hpp"
#include "mpi/fortran/sentinels.hpp"

namespace headway::mpi::fortran {

/// Calls the error handler of MPI_COMM_SELF for an array whose elements are not contiguous, in a
/// call that cannot take one.
[[gnu::cold]] int refuse_section();

/// Contiguous copies of the array sections of a call, which the call uses in their place. Received
/// data is copied back when the call ends, or when the operation that it has started is complete.
/// Only those elements are written that have changed in the copy: the program may use the others
/// meanwhile.
/// Threads:  one.
/// Source:   MPI-5.0 section 19.1.12: a section is used as if it were copied to a contiguous one.
class section_copies {
 public:
  section_copies() = default;
  ~section_copies() {
    if (made_ != nullptr) [[unlikely]]
      finish_call();
  }
  section_copies(const section_copies&) = delete;
  section_copies& operator=(const section_copies&) = delete;

  /// The buffer for the call: of the array itself, or of its copy. `written`: the operation writes
  /// to it.
  void* of(const descriptor* array, bool written) {
    return is_contiguous(*array) ? choice(array->address) : copy_of(*array, written);
  }
  /// The same for a buffer that only the root uses.
  void* of_at_root(const descriptor* array, bool written, int root, int comm) {
    return is_contiguous(*array) ? choice(array->address)
                                 : copy_at_root(*array, written, root, comm);
  }
  [[gnu::cold]] void* copy_of(const descriptor& array, bool written);

  /// The call has returned `code` and `request`, whose handle this may change: the copies live as
  /// long as the request.
  void keep(int code, MPI_Request* request) {
    if (made_ != nullptr) [[unlikely]]
      attach(code, request);
  }
  /// The call has returned `code` and has no request: the copies live until the synchronisation of
  /// the window in which its operation to `rank` ends at the origin.
  void keep(int code, int win, int rank) {
    if (made_ != nullptr) [[unlikely]]
      attach(code, win, rank);
  }
  /// The call has returned `code` and has begun this split collective access to `file`: the copies
  /// live until `end_split_copies`.
  void keep(int code, int file, std::string_view access) {
    if (made_ != nullptr) [[unlikely]]
      attach(code, file, access);
  }

 private:
  class attachment;

  [[gnu::cold]] void* copy_at_root(const descriptor& array, bool written, int root, int comm);
  [[gnu::cold]] void attach(int code, MPI_Request* request);
  [[gnu::cold]] void attach(int code, int win, int rank);
  [[gnu::cold]] void attach(int code, int file, std::string_view access);
  [[gnu::cold]] void finish_call();

  attachment* made_ = nullptr;
};

/// This split collective access to `file`, `read_all` or the like, has ended: its copies are copied
/// back and freed. Nothing if it had none, or if another access is under way, which MPI refuses to
/// end so.
/// Threads:  any; takes a lock.
void end_split_copies(int file, std::string_view access);

}  // namespace headway::mpi::fortran
