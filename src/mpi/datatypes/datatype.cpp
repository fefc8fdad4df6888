#include "mpi/datatypes/datatype.hpp"

#include "base/assert.hpp"
#include "mpi/objects/pool.hpp"

namespace headway::mpi {
namespace {

using datatypes::number;

struct predefined_type {
  MPI_Datatype value;
  const char* name;
  number kind;  // none: known to the ABI, not to this library
};

#define HEADWAY_TYPE(name, kind) {name, #name, number::kind}
const predefined_type predefined_types[] = {
    HEADWAY_TYPE(MPI_AINT, int64),
    HEADWAY_TYPE(MPI_COUNT, int64),
    HEADWAY_TYPE(MPI_OFFSET, int64),
    HEADWAY_TYPE(MPI_PACKED, packed),
    HEADWAY_TYPE(MPI_SHORT, int16),
    HEADWAY_TYPE(MPI_INT, int32),
    HEADWAY_TYPE(MPI_LONG, c_long),
    HEADWAY_TYPE(MPI_LONG_LONG, int64),
    HEADWAY_TYPE(MPI_UNSIGNED_SHORT, uint16),
    HEADWAY_TYPE(MPI_UNSIGNED, uint32),
    HEADWAY_TYPE(MPI_UNSIGNED_LONG, c_unsigned_long),
    HEADWAY_TYPE(MPI_UNSIGNED_LONG_LONG, uint64),
    HEADWAY_TYPE(MPI_FLOAT, float32),
    HEADWAY_TYPE(MPI_C_FLOAT_COMPLEX, complex32),
    HEADWAY_TYPE(MPI_CXX_FLOAT_COMPLEX, complex32),
    HEADWAY_TYPE(MPI_DOUBLE, float64),
    HEADWAY_TYPE(MPI_C_DOUBLE_COMPLEX, complex64),
    HEADWAY_TYPE(MPI_CXX_DOUBLE_COMPLEX, complex64),
    HEADWAY_TYPE(MPI_LOGICAL, logical32),
    HEADWAY_TYPE(MPI_INTEGER, int32),
    HEADWAY_TYPE(MPI_REAL, float32),
    HEADWAY_TYPE(MPI_COMPLEX, complex32),
    HEADWAY_TYPE(MPI_DOUBLE_PRECISION, float64),
    HEADWAY_TYPE(MPI_DOUBLE_COMPLEX, complex64),
    HEADWAY_TYPE(MPI_CHARACTER, text8),
    HEADWAY_TYPE(MPI_LONG_DOUBLE, long_double),
    HEADWAY_TYPE(MPI_C_LONG_DOUBLE_COMPLEX, complex_long_double),
    HEADWAY_TYPE(MPI_CXX_LONG_DOUBLE_COMPLEX, complex_long_double),
    HEADWAY_TYPE(MPI_FLOAT_INT, float_int),
    HEADWAY_TYPE(MPI_DOUBLE_INT, double_int),
    HEADWAY_TYPE(MPI_LONG_INT, long_int),
    HEADWAY_TYPE(MPI_2INT, int_int),
    HEADWAY_TYPE(MPI_SHORT_INT, short_int),
    HEADWAY_TYPE(MPI_LONG_DOUBLE_INT, long_double_int),
    HEADWAY_TYPE(MPI_2REAL, float_float),
    HEADWAY_TYPE(MPI_2DOUBLE_PRECISION, double_double),
    HEADWAY_TYPE(MPI_2INTEGER, int_int),
    HEADWAY_TYPE(MPI_C_BOOL, bool8),
    HEADWAY_TYPE(MPI_CXX_BOOL, bool8),
    HEADWAY_TYPE(MPI_WCHAR, text32),
    HEADWAY_TYPE(MPI_INT8_T, int8),
    HEADWAY_TYPE(MPI_UINT8_T, uint8),
    HEADWAY_TYPE(MPI_CHAR, text8),
    HEADWAY_TYPE(MPI_SIGNED_CHAR, int8),
    HEADWAY_TYPE(MPI_UNSIGNED_CHAR, uint8),
    HEADWAY_TYPE(MPI_BYTE, byte),
    HEADWAY_TYPE(MPI_INT16_T, int16),
    HEADWAY_TYPE(MPI_UINT16_T, uint16),
    HEADWAY_TYPE(MPI_INT32_T, int32),
    HEADWAY_TYPE(MPI_UINT32_T, uint32),
    HEADWAY_TYPE(MPI_INT64_T, int64),
    HEADWAY_TYPE(MPI_UINT64_T, uint64),
    HEADWAY_TYPE(MPI_LOGICAL1, logical8),
    HEADWAY_TYPE(MPI_INTEGER1, int8),
    HEADWAY_TYPE(MPI_LOGICAL2, logical16),
    HEADWAY_TYPE(MPI_INTEGER2, int16),
    HEADWAY_TYPE(MPI_REAL2, half),
    HEADWAY_TYPE(MPI_LOGICAL4, logical32),
    HEADWAY_TYPE(MPI_INTEGER4, int32),
    HEADWAY_TYPE(MPI_REAL4, float32),
    HEADWAY_TYPE(MPI_COMPLEX4, complex_half),
    HEADWAY_TYPE(MPI_LOGICAL8, logical64),
    HEADWAY_TYPE(MPI_INTEGER8, int64),
    HEADWAY_TYPE(MPI_REAL8, float64),
    HEADWAY_TYPE(MPI_COMPLEX8, complex32),
    HEADWAY_TYPE(MPI_LOGICAL16, logical128),
    HEADWAY_TYPE(MPI_INTEGER16, int128),
    HEADWAY_TYPE(MPI_REAL16, float128),
    HEADWAY_TYPE(MPI_COMPLEX16, complex64),
    HEADWAY_TYPE(MPI_COMPLEX32, complex128),
};
#undef HEADWAY_TYPE

}  // namespace

datatype::datatype(datatypes::layout_ptr layout) : layout_(std::move(layout)) {
  HEADWAY_ASSERT(layout_);
}
datatype::~datatype() = default;

void datatype::drop_user() noexcept {
  // (G) release: this user's accesses are over; (D) acquire: so are those of all others.
  const int before = users_.fetch_sub(1, std::memory_order_acq_rel);
  HEADWAY_DEBUG_ASSERT(before > 0);
  if (before == 1) pool<datatype>::all().drop(this);
}

datatype& datatype::none() noexcept {
  static auto* const made = [] {
    auto* only = new datatype(datatypes::layout::of(number::packed));
    only->committed = true;
    only->become(object_kind::placeholder, null_value);
    return only;
  }();
  return *made;
}

void define_datatypes() {
  static const bool once = [] {
    for (const auto& each : predefined_types) {
      auto* made = new datatype(datatypes::layout::of(each.kind));
      made->name = each.name;
      made->committed = true;
      define(*made, object_kind::type, reinterpret_cast<std::uintptr_t>(each.value));
    }
    return true;
  }();
  (void)once;
}

}  // namespace headway::mpi
