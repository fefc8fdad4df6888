/// Non-blocking allreduce beside a fixed quantum of work (thread-or-not08).
/// A fixed amount of arithmetic, not a fixed time: what interrupts, progress threads and copies
/// cost the computation lengthens it and shows as overhead = T(both) - T(work). --tests N calls
/// MPI_Test N times within the work, the paper's manual progression.
#include <stdlib.h>

#include "bench.h"

struct quantum {
  uint64_t units;
  long tests;
};

static void compute(const struct quantum* q, MPI_Request* request) {
  const uint64_t parts = (uint64_t)q->tests + 1;
  for (uint64_t part = 0; part < parts; ++part) {
    work(q->units * (part + 1) / parts - q->units * part / parts);
    int done = 0;
    if (part + 1 < parts) MPI_Test(request, &done, MPI_STATUS_IGNORE);
  }
}

struct vectors {
  double *from, *into;
  int count;
};

/// Microseconds of the slowest rank, for the collective, the work, or both.
static double round_us(const struct bench* b, const struct vectors* v, const struct quantum* q,
                       bool reduce) {
  MPI_Request request = MPI_REQUEST_NULL;
  starting_line(b);
  const uint64_t start = now_ns();
  if (reduce)
    MPI_Iallreduce(v->from, v->into, v->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  if (q != NULL) compute(q, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return largest((double)(now_ns() - start) / 1000);
}

static void measure(struct bench* b, size_t bytes, const struct quantum* q, double work_us) {
  struct vectors v = {.count = bytes < 8 ? 1 : (int)(bytes / 8)};
  v.from = buffer((size_t)v.count * 8);
  v.into = buffer((size_t)v.count * 8);
  round_us(b, &v, NULL, true);
  const double once_us = round_us(b, &v, NULL, true);
  const long rounds = bench_repeat(b, (2 * once_us + 2 * work_us + 1000) * 1000, 5, 2000);
  struct samples collective = {0}, alone = {0}, both = {0};
  long done = 0;
  for (const uint64_t start = now_ns(); bench_goes_on(b, done, rounds, start); ++done) {
    samples_add(&collective, round_us(b, &v, NULL, true));
    samples_add(&alone, round_us(b, &v, q, false));
    samples_add(&both, round_us(b, &v, q, true));
  }
  const double collective_us = summarise(&collective).median;
  const double alone_us = summarise(&alone).median;
  const double both_us = summarise(&both).median;
  const double overhead_us = both_us - alone_us;
  table_row(&b->table, NULL,
            (double[]){(double)v.count * 8, collective_us, alone_us, both_us, overhead_us,
                       100 * overhead_us / (collective_us > 0 ? collective_us : 1), (double)done});
  samples_free(&collective);
  samples_free(&alone);
  samples_free(&both);
  free(v.from);
  free(v.into);
}

int main(int argc, char** argv) {
  struct bench b = {.name = "nbc_work",
                    .about =
                        "nbc_work: Iallreduce beside a fixed quantum of work.\n"
                        "overhead_us: what the collective adds to the work; overhead_pct: as a\n"
                        "share of the collective alone (0: hidden, 100: not at all).",
                    .thread_level = MPI_THREAD_SINGLE,
                    .seconds = 0.5};
  struct list sizes = {.count = 0};
  list_read(&sizes, "8,1K,16K,128K,1M");
  double work_us = 2000, tests = 0;
  const struct option own[] = {
      {"--sizes", option_list, &sizes, "bytes of the vector"},
      {"--work", option_number, &work_us, "the quantum: microseconds on an undisturbed core"},
      {"--tests", option_number, &tests, "calls of MPI_Test within the quantum"},
      {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  double units_per_us = work_units_per_us();
  MPI_Bcast(&units_per_us, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  const struct quantum q = {(uint64_t)(work_us * units_per_us), (long)tests};
  const struct column columns[] = {{"bytes", 0},   {"allreduce_us", 1}, {"work_us", 1},
                                   {"both_us", 1}, {"overhead_us", 1},  {"overhead_pct", 1},
                                   {"rounds", 0}};
  bench_table(&b, NULL, columns, 7);
  for (int i = 0; i < sizes.count; ++i) measure(&b, sizes.value[i], &q, work_us);
  return bench_finish(&b);
}
