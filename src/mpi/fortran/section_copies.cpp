#include "mpi/fortran/section_copies.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/assert.hpp"
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

void section_copies::finish_call() {
  HEADWAY_ASSERT(made_ != nullptr);
  made_->after_end();
  delete made_;
}

}  // namespace headway::mpi::fortran
