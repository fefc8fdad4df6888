/// Time of MPI_Neighbor_alltoall on a periodic grid of all ranks, by the size of a block, on any
/// number of ranks: calls without a pause between them, as in a halo exchange. `mean_us` is the
/// slowest rank's; the other columns are rank 0's. The blocks of the first call are checked.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { dimensions_max = 4 };

struct grid {
  MPI_Comm comm;
  int neighbors;
  int source[2 * dimensions_max];  ///< the rank that each block comes from
};

static struct grid grid_of(const struct bench* b, int dimensions) {
  int sides[dimensions_max] = {0};
  const int periodic[dimensions_max] = {1, 1, 1, 1};
  MPI_Dims_create(b->size, dimensions, sides);
  struct grid g = {.neighbors = 2 * dimensions};
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, sides, periodic, 0, &g.comm);
  for (int d = 0; d < dimensions; ++d)
    MPI_Cart_shift(g.comm, d, 1, &g.source[2 * d], &g.source[2 * d + 1]);
  return g;
}

/// Every block must hold what its sender has written into it: its rank in each byte.
static void check(const struct grid* g, const char* into, size_t bytes) {
  for (int i = 0; i < g->neighbors; ++i) {
    const char* block = into + (size_t)i * bytes;
    if (block[0] == (char)g->source[i] && block[bytes - 1] == (char)g->source[i]) continue;
    fprintf(stderr, "neighbors: block %d holds %d instead of %d\n", i, block[0], g->source[i]);
    MPI_Abort(MPI_COMM_WORLD, 4);
  }
}

static void measure(struct bench* b, const struct grid* g, size_t bytes) {
  const int count = (int)bytes;
  char* from = buffer(bytes * (size_t)g->neighbors);
  char* into = buffer(bytes * (size_t)g->neighbors);
  memset(from, b->rank, bytes * (size_t)g->neighbors);
  // The first calls connect processes, which takes many times as long.
  const int trial = bytes < 16384 ? 50 : 10;
  uint64_t start = 0;
  for (int i = 0; i < 2 * trial; ++i) {
    if (i == trial) start = now_ns();
    MPI_Neighbor_alltoall(from, count, MPI_BYTE, into, count, MPI_BYTE, g->comm);
    if (i == 0) check(g, into, bytes);
  }
  const long rounds = bench_repeat(b, (double)(now_ns() - start) / trial, 20, 200000);
  struct samples samples = {0};
  MPI_Barrier(MPI_COMM_WORLD);
  for (long i = 0; i < rounds; ++i) {
    start = now_ns();
    MPI_Neighbor_alltoall(from, count, MPI_BYTE, into, count, MPI_BYTE, g->comm);
    samples_add(&samples, (double)(now_ns() - start) / 1000);
  }
  const struct summary s = summarise(&samples);
  const double slowest_mean = largest(s.mean);
  samples_free(&samples);
  table_row(&b->table, NULL,
            (double[]){b->size, (double)bytes, s.median, slowest_mean, s.best, (double)rounds});
  free(from);
  free(into);
}

int main(int argc, char** argv) {
  struct bench b = {.name = "neighbors",
                    .about = "neighbors: time of MPI_Neighbor_alltoall on a periodic grid.",
                    .thread_level = MPI_THREAD_SINGLE,
                    .seconds = 0.3};
  struct list sizes = {.count = 0};
  list_read(&sizes, "8,1K,64K");
  double dimensions = 2;
  const struct option own[] = {{"--sizes", option_list, &sizes, "bytes of a block"},
                               {"--dimensions", option_number, &dimensions, "of the grid, 1 to 4"},
                               {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  if (dimensions < 1 || dimensions > dimensions_max) {
    fprintf(stderr, "neighbors: --dimensions is 1 to %d\n", dimensions_max);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  struct grid g = grid_of(&b, (int)dimensions);
  const struct column columns[] = {{"ranks", 0},   {"bytes", 0},   {"median_us", 2},
                                   {"mean_us", 2}, {"best_us", 2}, {"calls", 0}};
  bench_table(&b, NULL, columns, 6);
  for (int i = 0; i < sizes.count; ++i)
    if (sizes.value[i] > 0) measure(&b, &g, sizes.value[i]);
  MPI_Comm_free(&g.comm);
  return bench_finish(&b);
}
