/// Time of MPI_Allreduce (sum of doubles) by size, on any number of ranks.
/// `mean_us` is the slowest rank's; the other columns are rank 0's.
#include <stdlib.h>

#include "bench.h"

/// Microseconds of one call.
static double timed(const double* from, double* into, int count) {
  const uint64_t start = now_ns();
  MPI_Allreduce(from, into, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return (double)(now_ns() - start) / 1000;
}

static void measure(struct bench* b, size_t bytes) {
  const int count = bytes < sizeof(double) ? 1 : (int)(bytes / sizeof(double));
  double* from = buffer((size_t)count * sizeof *from);
  double* into = buffer((size_t)count * sizeof *into);
  for (int i = 0; i < count; ++i) from[i] = i;
  // The first call may set up something that takes as long as hundreds of others.
  struct samples trials = {0};
  for (int i = 0; i < 3; ++i) samples_add(&trials, timed(from, into, count));
  const long rounds = bench_repeat(b, 1000 * median_of(&trials), 10, 100000);
  struct samples samples = {0};
  MPI_Barrier(MPI_COMM_WORLD);
  for (long i = 0; i < rounds; ++i) samples_add(&samples, timed(from, into, count));
  if (into[count - 1] != (double)(count - 1) * b->size) MPI_Abort(MPI_COMM_WORLD, 4);
  const struct summary s = summarise(&samples);
  const double slowest_mean = largest(s.mean);
  samples_free(&samples);
  table_row(&b->table, NULL,
            (double[]){(double)b->size, (double)count * 8, s.median, slowest_mean, s.best, s.worst,
                       (double)rounds});
  free(from);
  free(into);
}

int main(int argc, char** argv) {
  struct bench b = {.name = "allreduce",
                    .about = "allreduce: time of MPI_Allreduce (sum of doubles) by size.",
                    .thread_level = MPI_THREAD_SINGLE,
                    .seconds = 0.3};
  struct list sizes = {.count = 0};
  list_read(&sizes, "8,64,1K,16K,128K,1M");
  const struct option own[] = {{"--sizes", option_list, &sizes, "bytes of the vector"},
                               {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  const struct column columns[] = {{"ranks", 0},   {"bytes", 0},   {"median_us", 2},
                                   {"mean_us", 2}, {"best_us", 2}, {"worst_us", 1},
                                   {"calls", 0}};
  bench_table(&b, NULL, columns, 7);
  for (int i = 0; i < sizes.count; ++i) measure(&b, sizes.value[i]);
  return bench_finish(&b);
}
