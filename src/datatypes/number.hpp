#pragma once

#include <cstdint>

namespace headway::datatypes {

/// The kind of a predefined type: its size and arithmetic, which is all that copies and reductions
/// need. Types of several languages share one (MPI_INT, MPI_INT32_T, MPI_INTEGER: int32).
enum class number : std::uint8_t {
  none,  ///< a derived type
  int8,
  int16,
  int32,
  int64,
  int128,
  uint8,
  uint16,
  uint32,
  uint64,
  c_long,  ///< MPI_LONG and its unsigned form: kept apart because external32 gives them 4 bytes
  c_unsigned_long,
  float32,
  float64,
  long_double,
  float128,   ///< MPI_REAL16 where long double is another format
  complex32,  ///< two float32; all complex kinds are named after one part
  complex64,
  complex_long_double,
  complex128,
  bool8,     ///< C and C++ bool
  logical8,  ///< Fortran LOGICAL of so many bits: zero is false, all else true
  logical16,
  logical32,
  logical64,
  logical128,
  byte,    ///< MPI_BYTE: uninterpreted; bitwise operators only
  text8,   ///< MPI_CHAR, MPI_CHARACTER: reduced like int8
  text32,  ///< MPI_WCHAR: no operator
  packed,  ///< MPI_PACKED: no operator
  half,    ///< MPI_REAL2: no operator
  complex_half,
  float_int,  ///< value and index, for MPI_MINLOC and MPI_MAXLOC
  double_int,
  long_int,
  int_int,
  short_int,
  long_double_int,
  float_float,
  double_double,
};

constexpr int number_count = static_cast<int>(number::double_double) + 1;

}  // namespace headway::datatypes
