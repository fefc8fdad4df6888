#include "mpi/fortran/descriptor.hpp"

#include <utility>

#include "mpi/fortran/handles.hpp"
#include "mpi/fortran/sentinels.hpp"

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

int refuse_section() {
  PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_BUFFER);
  return MPI_ERR_BUFFER;
}

section::section(const descriptor* array, MPI_Count count, int datatype)
    : address_(choice(array->address)), count_(count), type_(handle<MPI_Datatype>(datatype)) {
  if (!is_contiguous(*array) && count > 0) [[unlikely]]
    describe(*array);
}

void section::describe(const descriptor& array) {
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  described_ = PMPI_Type_get_extent_c(type_, &lower, &extent) == MPI_SUCCESS && extent > 0 &&
               static_cast<MPI_Count>(array.element_bytes) % extent == 0;
  if (!described_) return;
  const section_types types(array, type_, static_cast<MPI_Count>(array.element_bytes) / extent);
  described_ = count_ <= types.units_in(array.rank);
  if (!described_) return;
  made_ = types.first(array.rank, count_).release();
  PMPI_Type_commit(&made_);
  type_ = made_;
  count_ = 1;
}

}  // namespace headway::mpi::fortran
