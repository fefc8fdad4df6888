#pragma once

#include <mpi.h>

#include "mpi/fortran/descriptor.hpp"
#include "mpi/fortran/handles.hpp"
#include "mpi/fortran/section_copies.hpp"
#include "mpi/fortran/sentinels.hpp"

namespace headway::mpi::fortran {

/// A buffer of a call with its count and datatype. If it is an array section whose elements are not
/// contiguous, it is one element of a datatype that describes the section, and nothing is copied.
/// Where no datatype does, because the program's does not divide the section's elements evenly,
/// it is a contiguous copy, if the call can have one.
/// Shape:    `is_usable` is false for a section that is neither.
/// Threads:  one.
class section {
 public:
  section(const descriptor* array, MPI_Count count, int datatype)
      : address_(choice(array->address)), count_(count), type_(handle<MPI_Datatype>(datatype)) {
    if (!is_contiguous(*array) && count > 0) [[unlikely]]
      usable_ = describe(*array);
  }
  section(const descriptor* array, MPI_Count count, int datatype, section_copies& copies,
          bool written)
      : section(array, count, datatype) {
    if (!usable_) [[unlikely]]
      usable_ = copy(*array, copies, written);
  }
  ~section() {
    if (made_ != MPI_DATATYPE_NULL) [[unlikely]]
      clean_up();
  }
  section(const section&) = delete;
  section& operator=(const section&) = delete;

  [[nodiscard]] bool is_usable() const noexcept { return usable_; }
  [[nodiscard]] void* address() const noexcept { return address_; }
  [[nodiscard]] MPI_Count count() const noexcept { return count_; }
  [[nodiscard]] MPI_Datatype type() const noexcept { return type_; }

 private:
  [[gnu::cold]] bool describe(const descriptor& array);
  [[gnu::cold]] bool copy(const descriptor& array, section_copies& copies, bool written);
  [[gnu::cold]] void clean_up();

  void* address_;
  MPI_Count count_;
  MPI_Datatype type_;
  MPI_Datatype made_ = MPI_DATATYPE_NULL;
  bool usable_ = true;
};

}  // namespace headway::mpi::fortran
