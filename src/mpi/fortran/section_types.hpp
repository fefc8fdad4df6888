#pragma once

#include <mpi.h>

#include <utility>

#include "base/assert.hpp"
#include "mpi/fortran/descriptor.hpp"

namespace headway::mpi::fortran {

/// A datatype that is freed at the end.
class temporary_type {
 public:
  temporary_type() = default;
  ~temporary_type() {
    if (type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&type_);
  }
  temporary_type(temporary_type&& other) noexcept
      : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  temporary_type& operator=(temporary_type&& other) noexcept {
    std::swap(type_, other.type_);
    return *this;
  }
  [[nodiscard]] MPI_Datatype get() const noexcept { return type_; }
  /// For the call that makes it.
  [[nodiscard]] MPI_Datatype* address() noexcept {
    HEADWAY_ASSERT(type_ == MPI_DATATYPE_NULL);
    return &type_;
  }
  [[nodiscard]] MPI_Datatype release() noexcept { return std::exchange(type_, MPI_DATATYPE_NULL); }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Where the data of a datatype lies.
class type_range {
 public:
  explicit type_range(MPI_Datatype type);

  [[nodiscard]] MPI_Count extent() const noexcept { return extent_; }
  /// Whether each element's data lies in a part of its own, which is `extent` long.
  [[nodiscard]] bool is_within_extent() const noexcept {
    return extent_ > 0 && is_within(extent_, 1);
  }
  /// Whether `count` elements lie in the first `bytes` of a buffer.
  [[nodiscard]] bool is_within(MPI_Count bytes, MPI_Count count) const noexcept {
    return known_ && first_ >= 0 && extent_ >= 0 && end_of(count) <= bytes;
  }
  /// Where the data of `count` elements ends in a buffer.
  [[nodiscard]] MPI_Count end_of(MPI_Count count) const noexcept {
    return (count - 1) * extent_ + first_ + bytes_;
  }

 private:
  MPI_Count extent_ = 0;
  MPI_Count first_ = 0;
  MPI_Count bytes_ = 0;
  bool known_ = false;
};

/// Makes datatypes of the first elements of an array section. The section is a sequence of units:
/// an element of the array is `units_each` of them, each of the basic type.
class section_types {
 public:
  section_types(const descriptor& array, MPI_Datatype unit, MPI_Count units_each)
      : array_(array), unit_(unit), units_each_(units_each) {}

  /// The first `units` units of the sub-array of the dimensions before `dimension`.
  [[nodiscard]] temporary_type first(int dimension, MPI_Count units) const;
  /// How many units that sub-array has.
  [[nodiscard]] MPI_Count units_in(int dimension) const;

 private:
  const descriptor& array_;
  MPI_Datatype unit_;
  MPI_Count units_each_;
};

}  // namespace headway::mpi::fortran
