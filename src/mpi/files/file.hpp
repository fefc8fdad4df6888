#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "files/open_file.hpp"
#include "files/view.hpp"
#include "mpi/communicators/communicator.hpp"
#include "mpi/datatypes/datatype.hpp"
#include "mpi/files/representation.hpp"
#include "mpi/objects/errhandler.hpp"
#include "mpi/objects/hint_set.hpp"
#include "mpi/objects/object.hpp"

namespace headway::mpi {

class file_request;
class shared_pointer;

/// The view of a file (MPI-5.0 section 14.3), with what MPI_File_get_view shows.
struct file_view {
  files::view data;
  datatype* etype = nullptr;     ///< a duplicate of the program's
  datatype* filetype = nullptr;  ///< likewise
  representation form = {};
};

/// An MPI file (MPI-5.0 chapter 14): a file that all processes of a communicator have opened, each
/// with its own descriptor.
/// Shape:    has a communicator of its own. The descriptor is closed when the last request that
///           uses it has ended.
/// Threads:  accesses any, as the standard allows them; views, info, error handler and atomicity as
///           it requires of the program. The individual pointer has a lock.
class file final : public object {
 public:
  using handle = MPI_File;
  static constexpr object_kind object_kind_of = object_kind::file;
  static constexpr std::uintptr_t null_value = 0x118;

  /// What exists once it is open.
  struct opening {
    communicator* comm = nullptr;
    std::string path;
    int amode = 0;
    std::shared_ptr<files::open_file> descriptor;
    std::unique_ptr<shared_pointer> pointer;
  };

  file();  ///< MPI_FILE_NULL
  explicit file(opening&& made);
  ~file() override;

  [[nodiscard]] bool is_null() const noexcept { return made_.comm == nullptr; }
  [[nodiscard]] communicator& comm() const noexcept { return *made_.comm; }
  [[nodiscard]] const std::string& path() const noexcept { return made_.path; }
  [[nodiscard]] int amode() const noexcept { return made_.amode; }
  [[nodiscard]] bool has_mode(int flag) const noexcept { return (made_.amode & flag) != 0; }
  [[nodiscard]] const std::shared_ptr<files::open_file>& descriptor() const noexcept {
    return made_.descriptor;
  }
  [[nodiscard]] shared_pointer& pointer() noexcept { return *made_.pointer; }
  /// What the kernel reports of earlier writes: a value of `errno`, or 0. While requests still use
  /// the descriptor it stays open, and nothing is known.
  [[nodiscard]] int close_descriptor() noexcept {
    const auto closed = std::move(made_.descriptor);
    return closed.use_count() == 1 ? closed->close() : 0;
  }

  [[nodiscard]] const file_view& view() const noexcept { return view_; }
  /// Takes the types' duplicates; frees those of the view before. Both pointers are at its begin.
  void set_view(const file_view& next) noexcept;

  /// The individual pointer, in bytes of the view.
  [[nodiscard]] std::int64_t position() const noexcept;
  void move_to(std::int64_t position) noexcept;
  /// Where the next access of so many bytes begins; the pointer is behind it then.
  [[nodiscard]] std::int64_t advance(std::int64_t bytes) noexcept;

  errhandler_ref handler;
  hint_set hints;
  bool atomic = false;
  bool exchanges_pieces = false;  ///< the views of all processes suit `write_exchanged`
  base::mutex atomic_accesses;    ///< one at a time in this process, which has one descriptor
  /// The collective access that was begun and not ended; null: none.
  file_request* split = nullptr;
  std::string_view ending_of_split = {};  ///< the name of the call that ends it

  /// MPI_FILE_NULL.
  [[nodiscard]] static file& null();

 private:
  void free_types() noexcept;

  opening made_;
  file_view view_;
  mutable base::mutex lock_;
  std::int64_t position_ HEADWAY_GUARDED_BY(lock_) = 0;
};

/// The MPI error code for an `errno` of a call on this file. `what`: "open PATH".
[[nodiscard]] int fail_errno(const file& where, const std::string& what, int error_number);
/// The same if a process that has opened it, or is opening it, is gone.
[[nodiscard]] int fail_process_lost(const file& where);
/// Gives `error`, an `errno` or 0, the value that it has on the first process where it is not 0.
/// Collective; waits. False: a process is gone.
[[nodiscard]] bool first_error(communicator& comm, int& error);

}  // namespace headway::mpi
