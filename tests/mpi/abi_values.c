/* Every constant has the value of the table, some of them also what is written here by hand, and
   MPI_Status lies in memory as the standard says. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

_Static_assert(sizeof(MPI_Status) == 32, "MPI_Status is 32 bytes");
_Static_assert(_Alignof(MPI_Status) == _Alignof(int), "aligned as int");
_Static_assert(offsetof(MPI_Status, MPI_SOURCE) == 0, "MPI_SOURCE first");
_Static_assert(offsetof(MPI_Status, MPI_TAG) == 4, "MPI_TAG second");
_Static_assert(offsetof(MPI_Status, MPI_ERROR) == 8, "MPI_ERROR third");
_Static_assert(offsetof(MPI_Status, MPI_internal) == 12, "then what is ours");
_Static_assert(sizeof(MPI_Aint) == sizeof(void*), "an address fits into MPI_Aint");
_Static_assert(sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8, "64-bit counts and offsets");
_Static_assert(MPI_ANY_SOURCE == -1 && MPI_ANY_TAG == -2 && MPI_PROC_NULL == -3, "by hand");
_Static_assert(MPI_ROOT == -4 && MPI_UNDEFINED == -32766, "by hand");
_Static_assert(MPI_THREAD_MULTIPLE == 4096 && MPI_ERR_LASTCODE == 16383, "by hand");
_Static_assert(MPI_ERR_TRUNCATE == 15 && MPI_ERR_UNSUPPORTED_OPERATION == 55, "by hand");

static int wrong;

static void check(const char* name, long long is, long long wanted) {
  if (is == wanted) return;
  printf("%s is %lld, not %lld\n", name, is, wanted);
  wrong = 1;
}

int main(void) {
#define HEADWAY_VALUE(name, value) check(#name, (long long)(intptr_t)(name), value);
#include "abi_values.inc"
  check("MPI_COMM_WORLD by hand", (intptr_t)MPI_COMM_WORLD, 0x101);
  check("MPI_INT by hand", (intptr_t)MPI_INT, 0x209);
  check("MPI_SUM by hand", (intptr_t)MPI_SUM, 0x21);
  check("MPI_REQUEST_NULL by hand", (intptr_t)MPI_REQUEST_NULL, 0x180);
  check("MPI_IN_PLACE by hand", (intptr_t)MPI_IN_PLACE, 1);
  return wrong;
}
