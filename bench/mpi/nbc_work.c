/// Non-blocking allreduce during a computation (thread-or-not08).
///
/// The computation is a fixed amount of arithmetic, not a fixed time, so that interrupts, progress
/// threads and copies make it longer: overhead = T(both) - T(work). For comparison, --by-time
/// computes until a time is reached, which hides these costs. --tests N calls MPI_Test N times
/// within the work, the paper's manual progression. --sockets moves the bytes that the collective
/// of two ranks moves, without any library: a lower bound of the overhead over TCP.
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "sockets.h"

struct quantum {
  uint64_t units;
  uint64_t ns;  ///< not 0: the computation ends after this time instead
  long tests;
};

static void compute_until(uint64_t end_ns) {
  while (now_ns() < end_ns) work(20);
}

static void compute(const struct quantum* q, MPI_Request* request) {
  const uint64_t parts = (uint64_t)q->tests + 1;
  const uint64_t start = now_ns();
  for (uint64_t part = 0; part < parts; ++part) {
    if (q->ns != 0) compute_until(start + q->ns * (part + 1) / parts);
    else work(q->units * (part + 1) / parts - q->units * part / parts);
    int done = 0;
    if (part + 1 < parts) MPI_Test(request, &done, MPI_STATUS_IGNORE);
  }
}

struct vectors {
  double *from, *into;
  int count;
  bool sockets;
};

static void begin(const struct vectors* v, MPI_Request* request) {
  if (v->sockets) sockets_start(v->from, v->into, (size_t)v->count * sizeof *v->from);
  else MPI_Iallreduce(v->from, v->into, v->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
}

static void end(const struct vectors* v, MPI_Request* request) {
  if (v->sockets) sockets_wait();
  else MPI_Wait(request, MPI_STATUS_IGNORE);
}

/// Microseconds of the slowest rank, for the collective, the work, or both.
static double round_us(const struct bench* b, const struct vectors* v, const struct quantum* q,
                       bool reduce) {
  MPI_Request request = MPI_REQUEST_NULL;
  starting_line(b);
  const uint64_t start = now_ns();
  if (reduce) begin(v, &request);
  if (q != NULL) compute(q, &request);
  if (reduce) end(v, &request);
  return largest((double)(now_ns() - start) / 1000);
}

struct asked {
  double work_us, factor, tests, computing;
  bool by_time, sockets;
};

/// The quantum for a collective that takes `once_us`; NULL for a rank that does not compute.
static const struct quantum* choose(struct quantum* q, const struct bench* b, const struct asked* a,
                                    double once_us, double units_per_us) {
  double work_us = a->factor > 0 ? a->factor * once_us : a->work_us;
  MPI_Bcast(&work_us, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  q->units = (uint64_t)(work_us * units_per_us);
  q->ns = a->by_time ? (uint64_t)(work_us * 1000) : 0;
  q->tests = (long)a->tests;
  return a->computing > 0 && b->rank >= (int)a->computing ? NULL : q;
}

/// The time of the collective alone.
static double alone_us(const struct bench* b, const struct vectors* v) {
  struct samples samples = {0};
  const double first_us = round_us(b, v, NULL, true);
  const int trials = first_us > 10000 ? 3 : 20;
  for (int i = 0; i < trials; ++i) samples_add(&samples, round_us(b, v, NULL, true));
  return median_of(&samples);
}

static void report(struct bench* b, const struct vectors* v, const struct summary* collective,
                   const struct summary* work, const struct summary* both, long done) {
  const double overhead_us = both->median - work->median;
  const double longer = work->median > collective->median ? work->median : collective->median;
  table_row(
      &b->table, NULL,
      (double[]){(double)v->count * 8, collective->median, work->median, both->median, overhead_us,
                 100 * overhead_us / (collective->median > 0 ? collective->median : 1),
                 longer > 0 ? both->median / longer : 0, (double)done});
}

static void measure(struct bench* b, size_t bytes, const struct asked* a, double units_per_us) {
  struct vectors v = {.count = bytes < 8 ? 1 : (int)(bytes / 8), .sockets = a->sockets};
  v.from = buffer((size_t)v.count * 8);
  v.into = buffer((size_t)v.count * 8);
  const double once_us = alone_us(b, &v);
  struct quantum quantum;
  const struct quantum* q = choose(&quantum, b, a, once_us, units_per_us);
  const double work_us = (double)quantum.units / units_per_us;
  const long rounds = bench_repeat(b, (2 * once_us + 2 * work_us + 1000) * 1000, 5, 2000);
  struct samples collective = {0}, alone = {0}, both = {0};
  long done = 0;
  for (const uint64_t start = now_ns(); bench_goes_on(b, done, rounds, start); ++done) {
    samples_add(&collective, round_us(b, &v, NULL, true));
    samples_add(&alone, round_us(b, &v, q, false));
    samples_add(&both, round_us(b, &v, q, true));
  }
  const struct summary c = summarise(&collective), w = summarise(&alone), t = summarise(&both);
  report(b, &v, &c, &w, &t, done);
  samples_free(&collective);
  samples_free(&alone);
  samples_free(&both);
  free(v.from);
  free(v.into);
}

int main(int argc, char** argv) {
  struct bench b = {.name = "nbc_work",
                    .about =
                        "nbc_work: Iallreduce during a fixed quantum of work.\n"
                        "overhead_us: what the collective adds to the work; overhead_pct: as a\n"
                        "share of the collective alone (0: hidden, 100: not at all); ratio: both\n"
                        "over the longer of the two.",
                    .thread_level = MPI_THREAD_SINGLE,
                    .seconds = 0.5};
  struct list sizes = {.count = 0};
  list_read(&sizes, "8,1K,16K,128K,1M");
  struct asked a = {.work_us = 2000};
  const struct option own[] = {
      {"--sizes", option_list, &sizes, "bytes of the vector"},
      {"--work", option_number, &a.work_us, "the quantum: microseconds on an undisturbed core"},
      {"--factor", option_number, &a.factor, "the quantum as a multiple of the collective"},
      {"--computing", option_number, &a.computing, "how many ranks compute; 0: all"},
      {"--by-time", option_flag, &a.by_time, "compute for a time, not an amount"},
      {"--tests", option_number, &a.tests, "calls of MPI_Test within the quantum"},
      {"--sockets", option_flag, &a.sockets, "only move the bytes, by TCP; two ranks"},
      {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  if (a.sockets && b.size != 2) {
    if (b.rank == 0) fprintf(stderr, "nbc_work: --sockets is between two ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (a.sockets) sockets_open(b.rank);
  double units_per_us = work_units_per_us();
  MPI_Bcast(&units_per_us, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  const struct column columns[] = {{"bytes", 0},   {"allreduce_us", 1}, {"work_us", 1},
                                   {"both_us", 1}, {"overhead_us", 1},  {"overhead_pct", 1},
                                   {"ratio", 3},   {"rounds", 0}};
  bench_table(&b, NULL, columns, 8);
  for (int i = 0; i < sizes.count; ++i) measure(&b, sizes.value[i], &a, units_per_us);
  return bench_finish(&b);
}
