#pragma once

#include <mpi.h>

#include "mpi/fortran/descriptor.hpp"
#include "mpi/fortran/handles.hpp"
#include "mpi/fortran/section_copies.hpp"
#include "mpi/fortran/sentinels.hpp"

namespace headway::mpi::fortran {

/// The buffer of MPI_Psend_init or MPI_Precv_init with its count and datatype, which are those of a
/// partition. If it is an array section whose elements are not contiguous, and each partition is a
/// number of whole sub-arrays of the section (of elements, if it has one dimension), a partition is
/// one element of a datatype, and nothing is copied. Any other section has a copy of each
/// partition, which MPI_Pready makes; what has arrived is copied back before the program learns of
/// it.
/// Shape:    `is_usable` is false for a section that has fewer elements than the partitions.
/// Threads:  one; see `partition_attachment` for the copies.
class partitioned_section {
 public:
  partitioned_section(const descriptor* array, int partitions, MPI_Count count, int datatype,
                      bool received)
      : address_(choice(array->address)), count_(count), type_(handle<MPI_Datatype>(datatype)) {
    if (!is_contiguous(*array) && partitions > 0 && count > 0) [[unlikely]]
      usable_ = describe(*array, partitions) || copy(*array, partitions, received);
  }
  ~partitioned_section() {
    if (made_ != MPI_DATATYPE_NULL) [[unlikely]]
      clean_up();
  }
  partitioned_section(const partitioned_section&) = delete;
  partitioned_section& operator=(const partitioned_section&) = delete;

  [[nodiscard]] bool is_usable() const noexcept { return usable_; }
  [[nodiscard]] void* address() const noexcept { return address_; }
  [[nodiscard]] MPI_Count count() const noexcept { return count_; }
  [[nodiscard]] MPI_Datatype type() const noexcept { return type_; }

  /// The call has returned `code` and `request`: the copies live as long as the request.
  void keep(int code, const MPI_Request* request) {
    if (copies_ != nullptr && code == MPI_SUCCESS) [[unlikely]]
      attach(*request);
  }

 private:
  class copies;

  [[gnu::cold]] bool describe(const descriptor& array, int partitions);
  [[gnu::cold]] bool copy(const descriptor& array, int partitions, bool received);
  /// A partition is one element of `made`, which the next one follows after `extent` bytes.
  void use(MPI_Datatype made, MPI_Count extent);
  [[gnu::cold]] void attach(MPI_Request request);
  [[gnu::cold]] void clean_up();

  void* address_;
  MPI_Count count_;
  MPI_Datatype type_;
  MPI_Datatype made_ = MPI_DATATYPE_NULL;
  copies* copies_ = nullptr;
  bool usable_ = true;
};

}  // namespace headway::mpi::fortran
