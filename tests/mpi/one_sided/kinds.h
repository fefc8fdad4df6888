/* For the random operations: the predefined types, and elements of the one that is tried. */
#ifndef HEADWAY_TESTS_MPI_ONE_SIDED_KINDS_H
#define HEADWAY_TESTS_MPI_ONE_SIDED_KINDS_H

#include <stdint.h>
#include <wchar.h>

#include "check_all.h"

/* Predefined types with the C type of their elements, of the two parts of complex numbers, and of
 * the values of pairs whose index is an int. */
#define EACH_KIND(element, complex, pair)              \
  element(MPI_INT, int);                               \
  element(MPI_DOUBLE, double);                         \
  element(MPI_SIGNED_CHAR, signed char);               \
  element(MPI_UNSIGNED_CHAR, unsigned char);           \
  element(MPI_CHAR, char);                             \
  element(MPI_WCHAR, wchar_t);                         \
  element(MPI_BYTE, unsigned char);                    \
  element(MPI_SHORT, short);                           \
  element(MPI_UNSIGNED_SHORT, unsigned short);         \
  element(MPI_UNSIGNED, unsigned);                     \
  element(MPI_LONG, long);                             \
  element(MPI_UNSIGNED_LONG, unsigned long);           \
  element(MPI_LONG_LONG, long long);                   \
  element(MPI_UNSIGNED_LONG_LONG, unsigned long long); \
  element(MPI_INT8_T, int8_t);                         \
  element(MPI_INT16_T, int16_t);                       \
  element(MPI_INT32_T, int32_t);                       \
  element(MPI_INT64_T, int64_t);                       \
  element(MPI_UINT8_T, uint8_t);                       \
  element(MPI_UINT16_T, uint16_t);                     \
  element(MPI_UINT32_T, uint32_t);                     \
  element(MPI_UINT64_T, uint64_t);                     \
  element(MPI_AINT, MPI_Aint);                         \
  element(MPI_COUNT, MPI_Count);                       \
  element(MPI_OFFSET, MPI_Offset);                     \
  element(MPI_FLOAT, float);                           \
  element(MPI_LONG_DOUBLE, long double);               \
  element(MPI_C_BOOL, _Bool);                          \
  element(MPI_INTEGER, int);                           \
  element(MPI_REAL, float);                            \
  element(MPI_DOUBLE_PRECISION, double);               \
  element(MPI_CHARACTER, char);                        \
  complex(MPI_C_FLOAT_COMPLEX, float);                 \
  complex(MPI_C_DOUBLE_COMPLEX, double);               \
  complex(MPI_C_LONG_DOUBLE_COMPLEX, long double);     \
  complex(MPI_COMPLEX, float);                         \
  complex(MPI_DOUBLE_COMPLEX, double);                 \
  pair(MPI_SHORT_INT, short);                          \
  pair(MPI_FLOAT_INT, float);                          \
  pair(MPI_DOUBLE_INT, double);                        \
  pair(MPI_LONG_INT, long);                            \
  pair(MPI_2INT, int);                                 \
  pair(MPI_LONG_DOUBLE_INT, long double);              \
  pair(MPI_2INTEGER, int);

struct kind {
  const char* name;
  MPI_Datatype type;
  int is_pair, size;
  MPI_Aint extent;
};
static struct kind kind;

/* A small value, exact in every type. */
static void set_element(char* at, int value) {
#define SET(mpi, c) \
  if (kind.type == mpi) *(c*)at = (c)value
#define SET_COMPLEX(mpi, c) \
  if (kind.type == mpi) ((c*)at)[0] = (c)value, ((c*)at)[1] = (c)(value / 2)
#define SET_PAIR(mpi, c)                       \
  if (kind.type == mpi) {                      \
    struct {                                   \
      c v;                                     \
      int i;                                   \
    }* pair = (void*)at;                       \
    pair->v = (c)(value % 4), pair->i = value; \
  }
  EACH_KIND(SET, SET_COMPLEX, SET_PAIR)
#undef SET
#undef SET_COMPLEX
#undef SET_PAIR
}

static void fill(char* at, int count, unsigned seed) {
  memset(at, 0, (size_t)(count * kind.extent));
  for (int i = 0; i < count; ++i)
    set_element(at + i * kind.extent, (int)((seed + 7u * (unsigned)i) % 9u) + 1);
}

/* The elements of an array, packed: what lies in gaps does not count. */
static void pack(const char* from, int count, char* to) {
  int position = 0;
  MPI_Pack(from, count, kind.type, to, count * kind.size, &position, MPI_COMM_SELF);
}
static int differs(const char* a, const char* b, int count) {
  char* packed_a = malloc((size_t)(count * kind.size + 1));
  char* packed_b = malloc((size_t)(count * kind.size + 1));
  pack(a, count, packed_a);
  pack(b, count, packed_b);
  int place = -1;
  for (int i = 0; i < count * kind.size && place < 0; ++i)
    if (packed_a[i] != packed_b[i]) place = i;
  free(packed_a);
  free(packed_b);
  return place;
}

#endif
