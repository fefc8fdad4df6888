#include "mpi/files/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/lock_guard.hpp"
#include "mpi/communicators/creation.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/files/shared_pointer.hpp"

namespace headway::mpi {
namespace {

[[nodiscard]] int class_of(int error_number) noexcept {
  switch (error_number) {
    case ENOENT:
      return MPI_ERR_NO_SUCH_FILE;
    case EEXIST:
      return MPI_ERR_FILE_EXISTS;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case ENOSPC:
    case EFBIG:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case EBUSY:
    case ETXTBSY:
      return MPI_ERR_FILE_IN_USE;
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case ENOTDIR:
      return MPI_ERR_BAD_FILE;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return MPI_ERR_NO_MEM;
    default:
      return MPI_ERR_IO;
  }
}

}  // namespace

file::file() = default;

file::file(opening&& made) : made_(std::move(made)) {}

file::~file() { free_types(); }

file& file::null() {
  static auto* const made = [] {
    auto* only = new file;
    only->handler = errhandler_ref(errors_return());
    define(*only, object_kind::file, null_value);
    return only;
  }();
  return *made;
}

void file::free_types() noexcept {
  for (auto* const each : {view_.etype, view_.filetype})
    if (each != nullptr && !each->is_predefined()) each->drop_user();
}

void file::set_view(const file_view& next) noexcept {
  free_types();
  view_ = next;
  move_to(0);
}

std::int64_t file::position() const noexcept {
  const base::lock_guard held(lock_);
  return position_;
}

void file::move_to(std::int64_t position) noexcept {
  const base::lock_guard held(lock_);
  position_ = position;
}

std::int64_t file::advance(std::int64_t bytes) noexcept {
  const base::lock_guard held(lock_);
  return std::exchange(position_, position_ + bytes);
}

int fail_errno(const file& where, const std::string& what, int error_number) {
  return fail_on(&where, class_of(error_number),
                 fmt::format("{}: {}", what, std::strerror(error_number)));
}

int fail_process_lost(const file& where) {
  return fail_on(&where, MPI_ERR_PROC_ABORTED, "a process of the file is gone");
}

bool first_error(communicator& comm, int& error) {
  std::vector<int> all;
  if (!gather_values(comm, error, all)) return false;
  const auto failed = std::ranges::find_if(all, [](int each) { return each != 0; });
  error = failed == all.end() ? 0 : *failed;
  return true;
}

namespace {
// Valid before MPI_Init, as the error handlers are.
[[maybe_unused]] const file& null_at_load = file::null();
}  // namespace

}  // namespace headway::mpi
