#include "mpi/fortran/section.hpp"

#include <utility>

namespace headway::mpi::fortran {
namespace {

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
  [[nodiscard]] MPI_Datatype* address() noexcept { return &type_; }
  [[nodiscard]] MPI_Datatype release() noexcept { return std::exchange(type_, MPI_DATATYPE_NULL); }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Where the data of a datatype lies.
class type_range {
 public:
  explicit type_range(MPI_Datatype type) {
    MPI_Count lower = 0;
    known_ = PMPI_Type_get_extent_c(type, &lower, &extent_) == MPI_SUCCESS &&
             PMPI_Type_get_true_extent_c(type, &first_, &bytes_) == MPI_SUCCESS;
  }
  [[nodiscard]] MPI_Count extent() const noexcept { return extent_; }
  /// Whether each element's data lies in a part of its own, which is `extent` long.
  [[nodiscard]] bool is_within_extent() const noexcept {
    return extent_ > 0 && is_within(extent_, 1);
  }
  /// Whether `count` elements lie in the first `bytes` of a buffer.
  [[nodiscard]] bool is_within(MPI_Count bytes, MPI_Count count) const noexcept {
    return known_ && first_ >= 0 && extent_ >= 0 &&
           (count - 1) * extent_ + first_ + bytes_ <= bytes;
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
  [[nodiscard]] temporary_type first(int dimension, MPI_Count units) const {
    temporary_type made;
    if (dimension == 0) {
      PMPI_Type_contiguous_c(units, unit_, made.address());
      return made;
    }
    const MPI_Count part = units_in(dimension - 1);
    const MPI_Count whole_parts = units / part;
    const MPI_Count stride = array_.dimensions[dimension - 1].stride_bytes;
    temporary_type whole;
    const temporary_type one = first(dimension - 1, part);
    PMPI_Type_create_hvector_c(whole_parts, 1, stride, one.get(), whole.address());
    if (units % part == 0) return whole;
    const temporary_type rest = first(dimension - 1, units % part);
    const MPI_Count lengths[] = {1, 1};
    const MPI_Count places[] = {0, whole_parts * stride};
    const MPI_Datatype types[] = {whole.get(), rest.get()};
    PMPI_Type_create_struct_c(2, lengths, places, types, made.address());
    return made;
  }

  [[nodiscard]] MPI_Count units_in(int dimensions) const {
    MPI_Count units = units_each_;
    for (int i = 0; i < dimensions; ++i) units *= array_.dimensions[i].extent;
    return units;
  }

 private:
  const descriptor& array_;
  MPI_Datatype unit_;
  MPI_Count units_each_;
};

}  // namespace

bool section::describe(const descriptor& array) {
  const type_range range(type_);
  const auto element_bytes = static_cast<MPI_Count>(array.element_bytes);
  if (!range.is_within_extent() || element_bytes % range.extent() != 0) return false;
  const section_types types(array, type_, element_bytes / range.extent());
  if (count_ > types.units_in(array.rank)) return false;
  made_ = types.first(array.rank, count_).release();
  PMPI_Type_commit(&made_);
  type_ = made_;
  count_ = 1;
  return true;
}

bool section::copy(const descriptor& array, section_copies& copies, bool written) {
  auto bytes = static_cast<MPI_Count>(array.element_bytes);
  for (int i = 0; i < array.rank; ++i) bytes *= array.dimensions[i].extent;
  if (!type_range(type_).is_within(bytes, count_)) return false;
  address_ = copies.copy_of(array, written);
  return address_ != nullptr;
}

}  // namespace headway::mpi::fortran
