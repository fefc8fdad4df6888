#include "mpi/files/opening.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi/communicators/creation.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/files/shared_pointer.hpp"
#include "mpi/objects/pool.hpp"

namespace headway::mpi {
namespace {

/// What a process was asked for, and what came of it.
struct attempt {
  std::int32_t amode = 0;
  std::int32_t error = 0;  // of the kernel
};

[[nodiscard]] const char* fault_of(int amode) noexcept {
  constexpr int accesses = MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR;
  if (std::popcount(static_cast<unsigned>(amode & accesses)) != 1)
    return "exactly one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR must be given";
  if ((amode & MPI_MODE_RDONLY) != 0 && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0)
    return "MPI_MODE_CREATE and MPI_MODE_EXCL cannot be given with MPI_MODE_RDONLY";
  if ((amode & MPI_MODE_RDWR) != 0 && (amode & MPI_MODE_SEQUENTIAL) != 0)
    return "MPI_MODE_SEQUENTIAL cannot be given with MPI_MODE_RDWR";
  return nullptr;
}

[[nodiscard]] int flags_of(int amode, bool creates) noexcept {
  int flags = (amode & MPI_MODE_RDONLY) != 0 ? O_RDONLY : O_RDWR;
  if ((amode & MPI_MODE_WRONLY) != 0) flags = O_WRONLY;
  if (creates && (amode & MPI_MODE_CREATE) != 0) flags |= O_CREAT;
  if (creates && (amode & MPI_MODE_EXCL) != 0) flags |= O_EXCL;
  return flags;
}

/// The first process makes the file if need be, and then the others open what is there.
[[nodiscard]] int open_everywhere(communicator& own, const std::string& path, int amode,
                                  files::open_file& descriptor) {
  const bool is_first = own.rank() == 0;
  attempt mine{.amode = amode};
  const auto open = [&] {
    auto opened = files::open_file::open(path.c_str(), flags_of(amode, is_first));
    if (opened) descriptor = std::move(*opened);
    else mine.error = opened.error();
  };
  const char* const fault = fault_of(amode);
  if (is_first && fault == nullptr) open();
  std::vector<attempt> all;
  if (!gather_values(own, mine, all)) return fail_process_lost(file::null());
  if (fault != nullptr) return fail_on(&file::null(), MPI_ERR_AMODE, fault);
  if (std::ranges::any_of(all, [&](const attempt& a) { return a.amode != amode; }))
    return fail_on(&file::null(), MPI_ERR_NOT_SAME, "processes have different access modes");
  int error = all.front().error;
  if (error == 0 && own.size() > 1) {
    if (!is_first) open();
    error = mine.error;
    if (!first_error(own, error)) return fail_process_lost(file::null());
  }
  return error == 0 ? MPI_SUCCESS : fail_errno(file::null(), "open " + path, error);
}

[[nodiscard]] int make_file(communicator& own, std::string path, int amode, file*& made) {
  files::open_file descriptor;
  if (const int code = open_everywhere(own, path, amode, descriptor)) return code;
  std::int64_t end = 0;
  if ((amode & MPI_MODE_APPEND) != 0) end = descriptor.size().value_or(0);
  auto pointer = std::make_unique<shared_pointer>();
  if (const int code = pointer->make(own)) return code;
  if ((amode & MPI_MODE_APPEND) != 0)
    if (const int code = pointer->set(end)) return code;
  made = pool<file>::all().make(
      file::opening{.comm = &own,
                    .path = std::move(path),
                    .amode = amode,
                    .descriptor = std::make_shared<files::open_file>(std::move(descriptor)),
                    .pointer = std::move(pointer)});
  made->handler = file::null().handler;
  made->set_view({.data = {},
                  .etype = find<datatype>(MPI_BYTE),
                  .filetype = find<datatype>(MPI_BYTE),
                  .form = {}});
  made->move_to(end);
  return MPI_SUCCESS;
}

}  // namespace

std::string path_of(const char* filename) {
  constexpr std::array prefixes{"ufs:", "nfs:", "lustre:", "gpfs:", "pvfs2:", "testfs:"};
  std::string_view name = filename;
  for (const std::string_view prefix : prefixes)
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  return std::string(name);
}

int open_file(communicator& comm, const char* filename, int amode, const info* hints, file*& made) {
  if (comm.is_inter())
    return fail_on(&file::null(), MPI_ERR_COMM, "the communicator is an inter-communicator");
  auto* own = make_communicator(comm, comm.shared_members(), comm.rank());
  if (const int code = agree_and_open(comm, own)) return code;
  const int code = make_file(*own, path_of(filename), amode, made);
  if (code != MPI_SUCCESS) free_communicator(*own);
  else if (hints != nullptr) made->hints.set(hints->entries());
  return code;
}

int close_file(file& closed) {
  communicator& own = closed.comm();
  const auto path = closed.path();
  const bool deletes = closed.has_mode(MPI_MODE_DELETE_ON_CLOSE);
  if (const int code = closed.pointer().end()) return code;
  int close_error = closed.close_descriptor(), delete_error = 0;
  if (!first_error(own, close_error)) return fail_process_lost(file::null());
  if (deletes) {
    if (own.rank() == 0 && ::unlink(path.c_str()) != 0) delete_error = errno;
    if (!first_error(own, delete_error)) return fail_process_lost(file::null());
  }
  pool<file>::all().drop(&closed);
  free_communicator(own);
  if (close_error != 0) return fail_errno(file::null(), "close " + path, close_error);
  return delete_error == 0 ? MPI_SUCCESS : fail_errno(file::null(), "delete " + path, delete_error);
}

}  // namespace headway::mpi
