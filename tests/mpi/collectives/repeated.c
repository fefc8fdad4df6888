/* For repeated_test.py: sums of floating point whose result depends on the order of additions.
 * Every rank must have the same bits of an allreduce; rank 0 prints the bits of every result, which
 * must be the same whenever the program runs on as many ranks. */
#include <inttypes.h>
#include <stdint.h>

#include "check_all.h"

enum { largest = 200000, block_max = 20000, ranks_max = 16 };
static double own[largest], total[largest], other[largest];

/* Magnitudes from 2^-20 to 2^43, both signs: hardly any two orders of additions agree. */
static double term(int rank, int i, int round) {
  uint64_t x =
      (uint64_t)(rank * 131 + round) * 0x9e3779b97f4a7c15u + (uint64_t)i * 0x2545f4914f6cdd1du;
  x ^= x >> 31;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 29;
  const double value = (double)(x >> 12) / (double)(UINT64_C(1) << (x % 64));
  return x & 64 ? value : -value;
}

static uint64_t bits_of(const double* v, int count) {
  uint64_t sum = 14695981039346656037u;
  for (int i = 0; i < count; ++i) {
    uint64_t bits;
    memcpy(&bits, &v[i], sizeof bits);
    sum = (sum ^ bits) * 1099511628211u;
  }
  return sum;
}

static void print(const char* what, int count, int round, const double* v) {
  if (check_rank == 0) printf("%s %d %d %016" PRIx64 "\n", what, count, round, bits_of(v, count));
}

static void same_on_all(int count, int round, const char* what) {
  uint64_t mine = bits_of(total, count), first = mine;
  CHECK_OK(MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD));
  CHECK(mine == first, "%s of %d, round %d: other bits than on rank 0", what, count, round);
}

static void one_round(int count, int round) {
  MPI_Request r;
  for (int i = 0; i < count; ++i) own[i] = term(check_rank, i, round);
  CHECK_OK(MPI_Allreduce(own, total, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  same_on_all(count, round, "allreduce");
  print("allreduce", count, round, total);
  CHECK_OK(MPI_Iallreduce(own, total, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r));
  CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
  same_on_all(count, round, "iallreduce");
  print("iallreduce", count, round, total);
  CHECK_OK(MPI_Reduce(own, other, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
  print("reduce", count, round, other);
  const int block = count / ranks_max < block_max ? count / ranks_max : block_max;
  CHECK_OK(MPI_Reduce_scatter_block(own, other, block, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  print("reduce_scatter_block", block, round, other);
  CHECK_OK(MPI_Scan(own, other, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  MPI_Bcast(other, count, MPI_DOUBLE, check_size - 1, MPI_COMM_WORLD);
  print("scan", count, round, other);
}

int main(int argc, char** argv) {
  static const int counts[] = {1, 6, 100, 5000, largest};
  check_start(&argc, &argv);
  for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c)
    for (int round = 0; round < (counts[c] < 1000 ? 40 : 4); ++round) one_round(counts[c], round);
  return check_end("repeated");
}
