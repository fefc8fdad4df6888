/// What it costs or saves if another core submits a message (thread09, figure 9): ping-pong by
/// Isend, a short computation, Wait. The two computations of a round trip overlap, except for the
/// time of the first message, so `extra_us`, the round trip minus one computation, is the part of
/// sending that is not hidden and the cost of handing the message over.
#include <stdlib.h>

#include "bench.h"

struct exchange {
  int rank;
  size_t bytes;
  char* memory;
  uint64_t units;
};

static void send_beside_work(const struct exchange* x) {
  MPI_Request request;
  MPI_Isend(x->memory, (int)x->bytes, MPI_BYTE, 1 - x->rank, 0, MPI_COMM_WORLD, &request);
  work(x->units);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void receive(const struct exchange* x) {
  MPI_Recv(x->memory, (int)x->bytes, MPI_BYTE, 1 - x->rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Microseconds of a round trip.
static double there_and_back_us(const struct exchange* x) {
  const uint64_t start = now_ns();
  if (x->rank == 0) send_beside_work(x);
  receive(x);
  if (x->rank == 1) send_beside_work(x);
  return (double)(now_ns() - start) / 1000;
}

/// Microseconds of the computation alone: the slower rank's median.
static double work_alone_us(uint64_t units) {
  struct samples samples = {0};
  for (int i = 0; i < 2000; ++i) {
    const uint64_t start = now_ns();
    work(units);
    samples_add(&samples, (double)(now_ns() - start) / 1000);
  }
  return largest(median_of(&samples));
}

static void measure(struct bench* b, const struct exchange* x) {
  const double work_us = work_alone_us(x->units);
  double one_us = 0;
  for (int i = 0; i < 10; ++i) one_us = there_and_back_us(x);
  const long rounds = bench_repeat(b, 1000 * one_us, 10, 200000);
  struct samples samples = {0};
  for (long i = 0; i < rounds; ++i) samples_add(&samples, there_and_back_us(x));
  const struct summary s = summarise(&samples);
  samples_free(&samples);
  table_row(&b->table, NULL,
            (double[]){(double)x->bytes, s.median, s.mean, s.best, work_us, s.median - work_us,
                       (double)rounds});
}

int main(int argc, char** argv) {
  struct bench b = {.name = "offload",
                    .about = "offload: ping-pong by Isend, a short computation, Wait.",
                    .thread_level = MPI_THREAD_SINGLE,
                    .ranks = 2,
                    .seconds = 0.3};
  struct list sizes = {.count = 0};
  list_read(&sizes, "1,64,512,4K,16K");
  double work_us = 10;
  const struct option own[] = {
      {"--sizes", option_list, &sizes, "bytes of a message"},
      {"--work", option_number, &work_us, "computation between Isend and Wait, in microseconds"},
      {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  const struct column columns[] = {{"bytes", 0},   {"median_us", 3}, {"mean_us", 3}, {"best_us", 3},
                                   {"work_us", 3}, {"extra_us", 3},  {"rounds", 0}};
  bench_table(&b, NULL, columns, 7);
  const uint64_t units = (uint64_t)(work_us * work_units_per_us());
  for (int i = 0; i < sizes.count; ++i) {
    struct exchange x = {b.rank, sizes.value[i], buffer(sizes.value[i]), units};
    measure(&b, &x);
    free(x.memory);
  }
  return bench_finish(&b);
}
