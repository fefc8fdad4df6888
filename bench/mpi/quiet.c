/// What the library costs a program that computes and does not communicate (pioman15, figure 4).
///
/// Each rank repeats a fixed quantum of work, first with nothing pending, then with a receive
/// pending whose message comes only at the end. `taken_pct` is the processor time of the process's
/// other threads as a share of the elapsed time, of the worst rank: what the library takes. On a
/// shared machine it is more exact than an elapsed time. `work_us` is the time of a quantum.
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>

#include "bench.h"

static double used_seconds(clockid_t clock) {
  struct timespec used;
  clock_gettime(clock, &used);
  return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

/// Processor seconds of the process's other threads.
static double others_seconds(void) {
  const double mine = used_seconds(CLOCK_THREAD_CPUTIME_ID);
  return used_seconds(CLOCK_PROCESS_CPUTIME_ID) - mine;
}

static void measure(struct bench* b, uint64_t units, double work_us, bool pending) {
  MPI_Request request = MPI_REQUEST_NULL;
  char byte = 0;
  const int other = b->rank ^ 1;
  const bool paired = pending && other < b->size;
  if (paired) MPI_Irecv(&byte, 1, MPI_BYTE, other, 0, MPI_COMM_WORLD, &request);
  const long rounds = bench_repeat(b, work_us * 1000, 5, 100000);
  struct samples samples = {0};
  MPI_Barrier(MPI_COMM_WORLD);
  const double used_before = others_seconds();
  const uint64_t start = now_ns();
  for (long i = 0; i < rounds; ++i) {
    const uint64_t began = now_ns();
    work(units);
    samples_add(&samples, (double)(now_ns() - began) / 1000);
  }
  const double took_s = (double)(now_ns() - start) * 1e-9;
  const double background = 100 * (others_seconds() - used_before) / took_s;
  if (paired) {
    MPI_Send(&byte, 1, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  const struct summary s = summarise(&samples);
  samples_free(&samples);
  const double worst_background = largest(background);
  const double mean_us = largest(s.mean), median_us = largest(s.median);
  table_row(&b->table, NULL,
            (double[]){pending, median_us, mean_us, worst_background, (double)rounds});
}

int main(int argc, char** argv) {
  struct bench b = {.name = "quiet",
                    .about = "quiet: what the library takes from a program that only computes.",
                    .thread_level = MPI_THREAD_SINGLE,
                    .seconds = 1};
  double work_us = 1000;
  const struct option own[] = {{"--work", option_number, &work_us, "the quantum, in microseconds"},
                               {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  const uint64_t units = (uint64_t)(work_us * work_units_per_us());
  const struct column columns[] = {
      {"pending", 0}, {"work_us", 2}, {"mean_us", 2}, {"taken_pct", 4}, {"rounds", 0}};
  bench_table(&b, NULL, columns, 5);
  for (int pending = 0; pending < 2; ++pending) measure(&b, units, work_us, pending == 1);
  return bench_finish(&b);
}
