#include "mpi/fortran/section_copies.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "mpi/fortran/array_section.hpp"
#include "mpi/fortran/handles.hpp"
#include "mpi/fortran/unrecorded.hpp"
#include "mpi/one_sided/attached_operations.hpp"
#include "mpi/point_to_point/request_attachment.hpp"

// Another library with MPI's C interface does not have them.
#pragma weak headway_attach_to_request
#pragma weak headway_attach_to_window

namespace headway::mpi::fortran {
namespace {

/// A section and its copy.
class section_copy {
 public:
  section_copy(const descriptor& array, bool written)
      : section_(array), written_(written), copy_(section_.bytes()) {}

  [[nodiscard]] void* address() noexcept { return copy_.data(); }
  [[nodiscard]] bool is_written() const noexcept { return written_; }

  void read_section() {
    section_.read(0, copy_);
    if (written_) before_ = copy_;
  }
  void write_back() noexcept {
    if (written_) section_.write_changes(0, copy_, before_);
  }

 private:
  array_section section_;
  bool written_;
  std::vector<std::byte> copy_, before_;
};

/// The copies of the split collective accesses that are under way. A file has one such access at a
/// time (MPI-5.0 section 14.4.5).
/// Threads:  any.
class split_accesses {
 public:
  static split_accesses& all() {
    static auto* const made = new split_accesses;  // used until the process ends
    return *made;
  }

  void add(int file, std::string_view access, std::unique_ptr<request_attachment> copies) {
    const base::lock_guard held(lock_);
    under_way_.insert_or_assign(file, begun{access, std::move(copies)});
  }
  /// Null: that access has no copies.
  [[nodiscard]] std::unique_ptr<request_attachment> take(int file, std::string_view access) {
    const base::lock_guard held(lock_);
    const auto found = under_way_.find(file);
    if (found == under_way_.end() || found->second.access != access) return nullptr;
    return std::move(under_way_.extract(found).mapped().copies);
  }

 private:
  struct begun {
    std::string_view access;
    std::unique_ptr<request_attachment> copies;
  };
  base::mutex lock_;
  std::map<int, begun> under_way_ HEADWAY_GUARDED_BY(lock_);
};

}  // namespace

class section_copies::attachment final : public request_attachment {
 public:
  void* add(const descriptor& array, bool written) {
    auto& made = copies_.emplace_back(array, written);
    made.read_section();
    return made.address();
  }
  void before_start() noexcept override {
    for (auto& each : copies_) each.read_section();
    written_back_ = false;
  }
  void after_end() noexcept override {
    if (std::exchange(written_back_, true)) return;
    for (auto& each : copies_) each.write_back();
  }
  [[nodiscard]] bool may_be_abandoned() const noexcept override {
    return std::ranges::none_of(copies_, &section_copy::is_written);
  }

 private:
  std::vector<section_copy> copies_;
  bool written_back_ = false;
};

int refuse_section() {
  const unrecorded calls;
  PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_BUFFER);
  return MPI_ERR_BUFFER;
}

void* section_copies::copy_of(const descriptor& array, bool written) {
  if (headway_attach_to_request == nullptr) {
    refuse_section();
    return nullptr;
  }
  if (made_ == nullptr) made_ = new attachment;
  return made_->add(array, written);
}

void* section_copies::copy_at_root(const descriptor& array, bool written, int root, int comm) {
  return is_root(root, comm) ? copy_of(array, written) : array.address;
}

void section_copies::attach(int code, MPI_Request* request) {
  if (code != MPI_SUCCESS) return;  // the destructor frees the copies
  headway_attach_to_request(request, std::exchange(made_, nullptr));
}

void section_copies::attach(int code, int win, int rank) {
  if (code != MPI_SUCCESS) return;  // the destructor frees the copies
  headway_attach_to_window(handle<MPI_Win>(win), rank, std::exchange(made_, nullptr));
}

void section_copies::attach(int code, int file, std::string_view access) {
  if (code != MPI_SUCCESS) return;  // the destructor frees the copies
  split_accesses::all().add(file, access,
                            std::unique_ptr<request_attachment>(std::exchange(made_, nullptr)));
}

void section_copies::finish_call() {
  HEADWAY_ASSERT(made_ != nullptr);
  made_->after_end();
  delete made_;
}

void end_split_copies(int file, std::string_view access) {
  const auto ended = split_accesses::all().take(file, access);
  if (ended != nullptr) ended->after_end();
}

}  // namespace headway::mpi::fortran
