#include "mpi/abi/fortran_kinds.hpp"

#include <array>
#include <map>

#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "mpi/datatypes/datatype_calls.hpp"
#include "mpi/datatypes/type_recipe.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/objects/pool.hpp"

namespace headway::mpi {
namespace {

using datatypes::number;

/// A Fortran kind: its decimal digits and exponent range.
struct kind_limits {
  number kind;
  number complex;
  int precision;
  int range;
};

constexpr kind_limits integers_by_range[] = {{number::int8, number::none, 0, 2},
                                             {number::int16, number::none, 0, 4},
                                             {number::int32, number::none, 0, 9},
                                             {number::int64, number::none, 0, 18},
                                             {number::int128, number::none, 0, 38}};
constexpr kind_limits reals[] = {{number::float32, number::complex32, 6, 37},
                                 {number::float64, number::complex64, 15, 307},
                                 {number::float128, number::complex128, 33, 4931}};

number find_kind(int combiner, int precision, int range) {
  if (combiner == MPI_COMBINER_F90_INTEGER) {
    for (const auto& each : integers_by_range) {
      if (range <= each.range) return each.kind;
    }
    return number::none;
  }
  for (const auto& each : reals) {
    const bool deep = precision == MPI_UNDEFINED || precision <= each.precision;
    const bool wide = range == MPI_UNDEFINED || range <= each.range;
    if (deep && wide) return combiner == MPI_COMBINER_F90_REAL ? each.kind : each.complex;
  }
  return number::none;
}

}  // namespace

bool is_fortran_kind(const datatype& type) noexcept {
  if (!type.recipe) return false;
  const int by = type.recipe->combiner;
  return by == MPI_COMBINER_F90_INTEGER || by == MPI_COMBINER_F90_REAL ||
         by == MPI_COMBINER_F90_COMPLEX;
}

datatype* fortran_kind(int combiner, int precision, int range) {
  static base::mutex lock;
  static auto* const made = new std::map<std::array<int, 3>, datatype*>;
  const auto kind = find_kind(combiner, precision, range);
  if (kind == number::none) return nullptr;
  const base::lock_guard held(lock);
  auto& entry = (*made)[{combiner, precision, range}];
  if (entry == nullptr) {
    entry = pool<datatype>::all().make(datatypes::layout::of(kind));
    entry->committed = true;
    auto recipe = std::make_shared<type_recipe>(combiner);
    if (combiner != MPI_COMBINER_F90_INTEGER) recipe->integer(precision);
    recipe->integer(range);
    entry->recipe = std::move(recipe);
  }
  return entry;
}

namespace calls {
namespace {

int give(int combiner, int precision, int range, datatype*& made) {
  made = fortran_kind(combiner, precision, range);
  if (made != nullptr) return MPI_SUCCESS;
  return fail(MPI_ERR_ARG, "no kind has precision {} and range {}", precision, range);
}

struct sized_kind {
  int typeclass;
  std::int64_t size;
  MPI_Datatype type;
};

}  // namespace

int type_create_f90_integer(int range, datatype*& made) {
  return give(MPI_COMBINER_F90_INTEGER, MPI_UNDEFINED, range, made);
}

int type_create_f90_real(int precision, int range, datatype*& made) {
  if (precision == MPI_UNDEFINED && range == MPI_UNDEFINED) {
    return fail(MPI_ERR_ARG, "neither precision nor range is given");
  }
  return give(MPI_COMBINER_F90_REAL, precision, range, made);
}

int type_create_f90_complex(int precision, int range, datatype*& made) {
  if (precision == MPI_UNDEFINED && range == MPI_UNDEFINED) {
    return fail(MPI_ERR_ARG, "neither precision nor range is given");
  }
  return give(MPI_COMBINER_F90_COMPLEX, precision, range, made);
}

int type_match_size(int typeclass, int size, datatype*& found) {
  const sized_kind kinds[] = {
      {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},   {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
      {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},   {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
      {MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16}, {MPI_TYPECLASS_REAL, 2, MPI_REAL2},
      {MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4},   {MPI_TYPECLASS_REAL, 4, MPI_REAL4},
      {MPI_TYPECLASS_REAL, 8, MPI_REAL8},         {MPI_TYPECLASS_REAL, 16, MPI_REAL16},
      {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},   {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
      {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32}};
  if (typeclass != MPI_TYPECLASS_INTEGER && typeclass != MPI_TYPECLASS_REAL &&
      typeclass != MPI_TYPECLASS_COMPLEX) {
    return fail(MPI_ERR_ARG, "typeclass is {}, which is none", typeclass);
  }
  for (const auto& each : kinds) {
    if (each.typeclass != typeclass || each.size != size) continue;
    found = find<datatype>(each.type);
    return MPI_SUCCESS;
  }
  return fail(MPI_ERR_ARG, "no type of that class has {} bytes", size);
}

int type_get_value_index(datatype& value, datatype& index, datatype*& found) {
  struct pair {
    MPI_Datatype value, index, both;
  };
  const pair pairs[] = {
      {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
      {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
      {MPI_LONG, MPI_INT, MPI_LONG_INT},
      {MPI_INT, MPI_INT, MPI_2INT},
      {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
      {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
      {MPI_REAL, MPI_REAL, MPI_2REAL},
      {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
      {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
  };
  found = nullptr;  // no such pair: MPI_DATATYPE_NULL, not an error
  for (const auto& each : pairs) {
    if (each.value == handle_of(&value) && each.index == handle_of(&index)) {
      found = find<datatype>(each.both);
    }
  }
  return MPI_SUCCESS;
}

}  // namespace calls
}  // namespace headway::mpi
