/* Goal: datatypes have the size and bounds that the standard defines, report how they were made,
 * and their constructors refuse invalid arguments. */
#include "check_all.h"

static void has(MPI_Datatype t, MPI_Count size, MPI_Count lb, MPI_Count extent, const char* what) {
  MPI_Count s, l, e;
  CHECK_OK(MPI_Type_size_c(t, &s));
  CHECK_OK(MPI_Type_get_extent_c(t, &l, &e));
  CHECK(s == size && l == lb && e == extent, "%s: size %lld, lb %lld, extent %lld", what,
        (long long)s, (long long)l, (long long)e);
}

static void is_made_by(MPI_Datatype t, int combiner, int ints, int addresses, int types) {
  int i, a, d, c;
  CHECK_OK(MPI_Type_get_envelope(t, &i, &a, &d, &c));
  CHECK(c == combiner && i == ints && a == addresses && d == types,
        "combiner %d: %d integers, %d addresses, %d types", c, i, a, d);
}

static void predefined(void) {
  has(MPI_INT, 4, 0, 4, "int");
  has(MPI_DOUBLE_INT, 12, 0, 16, "double_int");
  has(MPI_LONG_DOUBLE, sizeof(long double), 0, sizeof(long double), "long double");
  has(MPI_WCHAR, 4, 0, 4, "wchar");
  has(MPI_C_DOUBLE_COMPLEX, 16, 0, 16, "complex");
  is_made_by(MPI_INT, MPI_COMBINER_NAMED, 0, 0, 0);
  MPI_Datatype t = MPI_INT;
  CHECK_CLASS(MPI_Type_free(&t), MPI_ERR_TYPE);
  CHECK(t == MPI_INT, "a predefined type stays");
  CHECK_OK(MPI_Type_commit(&t));
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  CHECK_OK(MPI_Type_get_name(MPI_DOUBLE, name, &length));
  CHECK(strcmp(name, "MPI_DOUBLE") == 0 && length == 10, "name '%s'", name);
}

static void vectors(void) {
  MPI_Datatype t, u;
  MPI_Type_vector(3, 2, 4, MPI_INT, &t);
  has(t, 24, 0, 40, "vector");
  is_made_by(t, MPI_COMBINER_VECTOR, 3, 0, 1);
  int ints[3];
  MPI_Datatype old;
  CHECK_OK(MPI_Type_get_contents(t, 3, 0, 1, ints, NULL, &old));
  CHECK(ints[0] == 3 && ints[1] == 2 && ints[2] == 4 && old == MPI_INT, "contents of a vector");
  CHECK_CLASS(MPI_Type_get_contents(t, 2, 0, 1, ints, NULL, &old), MPI_ERR_ARG);
  MPI_Type_create_hvector(2, 1, 100, t, &u);
  has(u, 48, 0, 140, "hvector of vectors");
  MPI_Aint address;
  CHECK_OK(MPI_Type_get_contents(u, 2, 1, 1, ints, &address, &old));
  CHECK(address == 100 && ints[0] == 2, "contents of an hvector");
  is_made_by(old, MPI_COMBINER_VECTOR, 3, 0, 1);
  has(old, 24, 0, 40, "the vector in it");
  MPI_Type_free(&old);
  MPI_Type_free(&u);
  MPI_Type_free(&t);
  CHECK(t == MPI_DATATYPE_NULL, "a freed handle is null");
  MPI_Type_vector(3, 1, -2, MPI_DOUBLE, &t);
  has(t, 24, -32, 40, "backwards");
  MPI_Type_free(&t);
  CHECK_CLASS(MPI_Type_vector(-1, 1, 1, MPI_INT, &t), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE);
}

static void structures(void) {
  struct {
    char c;
    double d;
    int i[3];
  } s = {0};
  MPI_Aint base, places[3];
  MPI_Get_address(&s, &base);
  MPI_Get_address(&s.c, &places[0]);
  MPI_Get_address(&s.d, &places[1]);
  MPI_Get_address(s.i, &places[2]);
  for (int k = 0; k < 3; ++k) places[k] = MPI_Aint_diff(places[k], base);
  CHECK(MPI_Aint_add(base, places[1]) == (MPI_Aint)&s.d, "Aint_add");
  int blocks[3] = {1, 1, 3};
  MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, t, copy;
  CHECK_OK(MPI_Type_create_struct(3, blocks, places, types, &t));
  has(t, 21, 0, sizeof s, "struct");
  is_made_by(t, MPI_COMBINER_STRUCT, 4, 3, 3);
  int ints[4];
  MPI_Aint addresses[3];
  CHECK_OK(MPI_Type_get_contents(t, 4, 3, 3, ints, addresses, types));
  CHECK(ints[0] == 3 && ints[3] == 3 && addresses[1] == 8 && types[2] == MPI_INT,
        "contents of a struct");
  MPI_Type_set_name(t, "record");
  CHECK_OK(MPI_Type_dup(t, &copy));
  is_made_by(copy, MPI_COMBINER_DUP, 0, 0, 1);
  has(copy, 21, 0, sizeof s, "duplicate");
  MPI_Type_free(&t);
  has(copy, 21, 0, sizeof s, "duplicate, when the original is gone");
  MPI_Type_create_resized(copy, -8, 64, &t);
  has(t, 21, -8, 64, "resized");
  MPI_Aint lb, extent;
  MPI_Type_get_true_extent(t, &lb, &extent);
  CHECK(lb == 0 && extent == (MPI_Aint)sizeof s - 4, "true bounds %ld %ld", (long)lb, (long)extent);
  MPI_Type_free(&copy);
  MPI_Type_free(&t);
}

static void arrays(void) {
  int sizes[2] = {4, 6}, subsizes[2] = {2, 3}, starts[2] = {1, 2};
  MPI_Datatype t;
  CHECK_OK(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &t));
  has(t, 24, 0, 96, "subarray");
  is_made_by(t, MPI_COMBINER_SUBARRAY, 8, 0, 1);
  MPI_Aint lb, extent;
  MPI_Type_get_true_extent(t, &lb, &extent);
  CHECK(lb == 32 && extent == 36, "true bounds %ld %ld", (long)lb, (long)extent);
  MPI_Type_free(&t);
  starts[1] = 4;
  CHECK_CLASS(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &t),
              MPI_ERR_ARG);
  int distributions[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[2] = {2, 2};
  CHECK_OK(MPI_Type_create_darray(4, 3, 2, sizes, distributions, arguments, grid, MPI_ORDER_FORTRAN,
                                  MPI_INT, &t));
  has(t, 2 * 2 * 4, 0, 96, "darray");
  is_made_by(t, MPI_COMBINER_DARRAY, 4 + 4 * 2, 0, 1);
  MPI_Type_free(&t);
}

static void large(void) {
  MPI_Datatype t;
  const MPI_Count huge = (MPI_Count)1 << 33;
  CHECK_OK(MPI_Type_contiguous_c(huge, MPI_DOUBLE, &t));
  has(t, huge * 8, 0, huge * 8, "large");
  int size;
  CHECK_OK(MPI_Type_size(t, &size));
  CHECK(size == MPI_UNDEFINED, "a size that does not fit is %d", size);
  MPI_Count i, a, l, d, count;
  int combiner;
  CHECK_OK(MPI_Type_get_envelope_c(t, &i, &a, &l, &d, &combiner));
  CHECK(i == 0 && l == 1 && d == 1 && combiner == MPI_COMBINER_CONTIGUOUS, "large counts");
  MPI_Datatype old;
  CHECK_OK(MPI_Type_get_contents_c(t, 0, 0, 1, 1, NULL, NULL, &count, &old));
  CHECK(count == huge && old == MPI_DOUBLE, "contents of a large type");
  MPI_Type_free(&t);
}

static void fortran(void) {
  MPI_Datatype t, again;
  CHECK_OK(MPI_Type_create_f90_real(15, 300, &t));
  has(t, 8, 0, 8, "real of 15 digits");
  is_made_by(t, MPI_COMBINER_F90_REAL, 2, 0, 0);
  CHECK_OK(MPI_Type_create_f90_real(15, 300, &again));
  CHECK(t == again, "one handle for one kind");
  CHECK_CLASS(MPI_Type_free(&t), MPI_ERR_TYPE);
  CHECK_OK(MPI_Type_create_f90_complex(15, 300, &t));
  has(t, 16, 0, 16, "complex of 15 digits");
  is_made_by(t, MPI_COMBINER_F90_COMPLEX, 2, 0, 0);
  CHECK_CLASS(MPI_Type_create_f90_complex(60, 300, &t), MPI_ERR_ARG);
  CHECK_OK(MPI_Type_create_f90_integer(9, &t));
  has(t, 4, 0, 4, "integer of 9 digits");
  CHECK_CLASS(MPI_Type_create_f90_integer(60, &t), MPI_ERR_ARG);
  CHECK_OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 4, &t));
  CHECK(t == MPI_REAL4, "matched by size");
  CHECK_CLASS(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &t), MPI_ERR_ARG);
  CHECK_OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &t));
  CHECK(t == MPI_DOUBLE_INT, "pair");
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  predefined();
  vectors();
  structures();
  arrays();
  large();
  fortran();
  return check_end("making");
}
