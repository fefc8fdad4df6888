#include "mpi/fortran/section_copies.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "mpi/fortran/handles.hpp"
#include "mpi/point_to_point/request_attachment.hpp"

// Another library with MPI's C interface does not have it.
#pragma weak headway_attach_to_request

namespace headway::mpi::fortran {
namespace {

/// A section and its copy.
class section_copy {
 public:
  section_copy(const descriptor& array, bool written)
      : first_(static_cast<std::byte*>(array.address)),
        element_bytes_(array.element_bytes),
        dimensions_(array.dimensions, array.dimensions + array.rank),
        written_(written) {
    std::size_t bytes = element_bytes_;
    for (const auto& each : dimensions_) bytes *= static_cast<std::size_t>(each.extent);
    copy_.resize(bytes);
  }

  [[nodiscard]] void* address() noexcept { return copy_.data(); }
  [[nodiscard]] bool is_written() const noexcept { return written_; }

  /// Copies the section's elements.
  void read_section() {
    visit([&](std::byte* element, std::size_t at) {
      std::memcpy(&copy_[at], element, element_bytes_);
    });
    if (written_) before_ = copy_;
  }

  /// Copies back what has changed since `read_section`.
  void write_back() noexcept {
    if (!written_) return;
    visit([&](std::byte* element, std::size_t at) {
      if (std::memcmp(&copy_[at], &before_[at], element_bytes_) == 0) return;
      for (std::size_t i = 0; i < element_bytes_; ++i) {
        if (copy_[at + i] != before_[at + i]) element[i] = copy_[at + i];
      }
    });
  }

 private:
  /// Calls `each` with every element's address and offset in the copy.
  template <class Each>
  void visit(Each&& each) {
    std::size_t at = 0;
    visit(dimensions_.size(), first_, at, each);
  }

  template <class Each>
  void visit(std::size_t dimensions, std::byte* from, std::size_t& at, Each& each) {
    if (dimensions == 0) {
      each(from, at);
      at += element_bytes_;
      return;
    }
    const auto& last = dimensions_[dimensions - 1];
    for (std::ptrdiff_t i = 0; i < last.extent; ++i) {
      visit(dimensions - 1, from + i * last.stride_bytes, at, each);
    }
  }

  std::byte* first_;
  std::size_t element_bytes_;
  std::vector<descriptor::dimension> dimensions_;
  bool written_;
  std::vector<std::byte> copy_, before_;
};

bool is_root(int root, int comm) {
  if (root == MPI_ROOT) return true;
  int rank = MPI_PROC_NULL;
  return PMPI_Comm_rank(handle<MPI_Comm>(comm), &rank) == MPI_SUCCESS && rank == root;
}

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

void section_copies::finish_call() {
  made_->after_end();
  delete made_;
}

}  // namespace headway::mpi::fortran
