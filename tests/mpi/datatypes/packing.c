/* Goal: packing and unpacking copy the datatype's bytes and no others, in the machine's form and in
 * external32, and return an error if the buffer is too small. */
#include "check_all.h"

static void in_parts(void) {
  MPI_Datatype column;
  MPI_Type_vector(4, 1, 4, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  double m[16], back[16] = {0};
  for (int i = 0; i < 16; ++i) m[i] = i;
  char packed[100];
  int position = 0, size, seven = 7, seen = 0;
  CHECK_OK(MPI_Pack_size(1, column, MPI_COMM_SELF, &size));
  CHECK(size >= 32 && size < 64, "pack size %d", size);
  CHECK_OK(MPI_Pack(&m[1], 1, column, packed, 100, &position, MPI_COMM_SELF));
  CHECK_OK(MPI_Pack(&seven, 1, MPI_INT, packed, 100, &position, MPI_COMM_SELF));
  CHECK(position == 36, "position %d", position);
  const int end = position;
  CHECK_CLASS(MPI_Pack(m, 16, MPI_DOUBLE, packed, 100, &position, MPI_COMM_SELF), MPI_ERR_TRUNCATE);
  CHECK(position == end, "a refused pack leaves the position");
  position = 0;
  CHECK_OK(MPI_Unpack(packed, end, &position, &back[2], 1, column, MPI_COMM_SELF));
  CHECK_OK(MPI_Unpack(packed, end, &position, &seen, 1, MPI_INT, MPI_COMM_SELF));
  CHECK(seen == 7, "the int is %d", seen);
  for (int i = 0; i < 16; ++i)
    CHECK(back[i] == (i % 4 == 2 ? i - 1 : 0), "element %d is %g", i, back[i]);
  MPI_Type_free(&column);
}

static void external(void) {
  const struct {
    MPI_Datatype type;
    MPI_Aint bytes;
  } sizes[] = {{MPI_INT, 4},   {MPI_LONG, 4},         {MPI_LONG_LONG, 8},       {MPI_DOUBLE, 8},
               {MPI_WCHAR, 2}, {MPI_LONG_DOUBLE, 16}, {MPI_C_FLOAT_COMPLEX, 8}, {MPI_CHAR, 1}};
  for (int i = 0; i < 8; ++i) {
    MPI_Aint size;
    CHECK_OK(MPI_Pack_external_size("external32", 3, sizes[i].type, &size));
    CHECK(size == 3 * sizes[i].bytes, "type %d: %ld bytes", i, (long)size);
  }
  unsigned char packed[64];
  MPI_Aint position = 0;
  const int number = 0x01020304;
  const long negative = -5;
  const long double third = 1.0L / 3;
  const double one = 1.0;
  CHECK_OK(MPI_Pack_external("external32", &number, 1, MPI_INT, packed, 64, &position));
  CHECK(packed[0] == 1 && packed[3] == 4, "big-endian");
  CHECK_OK(MPI_Pack_external("external32", &negative, 1, MPI_LONG, packed, 64, &position));
  CHECK_OK(MPI_Pack_external("external32", &third, 1, MPI_LONG_DOUBLE, packed, 64, &position));
  CHECK_OK(MPI_Pack_external("external32", &one, 1, MPI_DOUBLE, packed, 64, &position));
  CHECK(packed[24] == 0x3f && packed[25] == 0xf0, "IEEE double");
  position = 0;
  int n = 0;
  long l = 0;
  long double t = 0;
  double o = 0;
  CHECK_OK(MPI_Unpack_external("external32", packed, 64, &position, &n, 1, MPI_INT));
  CHECK_OK(MPI_Unpack_external("external32", packed, 64, &position, &l, 1, MPI_LONG));
  CHECK_OK(MPI_Unpack_external("external32", packed, 64, &position, &t, 1, MPI_LONG_DOUBLE));
  CHECK_OK(MPI_Unpack_external("external32", packed, 64, &position, &o, 1, MPI_DOUBLE));
  CHECK(n == number && l == negative && t == third && o == one, "%d %ld %Lg %g", n, l, t, o);
  CHECK_CLASS(MPI_Pack_external("native", &n, 1, MPI_INT, packed, 64, &position), MPI_ERR_ARG);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  in_parts();
  external();
  return check_end("packing");
}
