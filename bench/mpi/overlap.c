/// How much of a transfer hides behind computation (pioman15, figures 7 and 8).
///
/// Rank 0 sends, rank 1 receives: Isend or Irecv, then a fixed amount of arithmetic, then Wait. The
/// work is chosen so that alone it takes as long as the transfer alone. The ratio
///     T(computation + communication) / max(T(computation), T(communication))
/// is 1 when the transfer is hidden and 2 when nothing is; `of_comp`, the paper's ratio, divides by
/// T(computation). T is the longer of the two ranks' times from a common starting line. The three
/// times are measured in turns, so that drift affects all equally.
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct transfer {
  const struct bench* b;
  size_t bytes;
  char* memory;
  bool computes;  ///< this rank works in the combined run and in the computation alone
};

/// Microseconds that the slower rank needs for the transfer, the work, or both at once.
static double round_us(const struct transfer* t, bool communicate, uint64_t units) {
  MPI_Request request = MPI_REQUEST_NULL;
  starting_line(t->b);
  const uint64_t start = now_ns();
  if (communicate && t->b->rank == 0)
    MPI_Isend(t->memory, (int)t->bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
  if (communicate && t->b->rank == 1)
    MPI_Irecv(t->memory, (int)t->bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
  if (t->computes) work(units);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return largest((double)(now_ns() - start) / 1000);
}

/// Units of work that take `wanted_us`: an estimate by the core's speed, corrected by how long that
/// takes now, because other programs may run on the machine.
static uint64_t units_for(const struct transfer* t, double wanted_us, double units_per_us) {
  const double first = wanted_us * units_per_us;
  const int trials = wanted_us > 10000 ? 1 : 20;
  struct samples samples = {0};
  for (int i = 0; i < trials; ++i) samples_add(&samples, round_us(t, false, (uint64_t)first));
  double took_us = median_of(&samples);
  MPI_Bcast(&took_us, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return (uint64_t)(took_us > 0 ? first * wanted_us / took_us : first);
}

struct times {
  struct samples communication, computation, both;
};

/// The time of the transfer alone, the same result on both ranks.
static double transfer_alone_us(const struct transfer* t) {
  const double first_us = round_us(t, true, 0);  // Opens connections, registers memory.
  const long trials = first_us > 10000 ? 3 : 50;
  struct samples samples = {0};
  for (long i = 0; i < trials; ++i) samples_add(&samples, round_us(t, true, 0));
  double alone_us = median_of(&samples);
  MPI_Bcast(&alone_us, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return alone_us;
}

/// Length of the computation: `work_us`, or if that is 0, `factor` times the transfer's time.
struct computation {
  double work_us, factor;
};

static void measure(struct bench* b, const struct transfer* t, const char* side,
                    double units_per_us, const struct computation* c) {
  const double alone_us = transfer_alone_us(t);
  const double work_us = c->work_us > 0 ? c->work_us : alone_us * c->factor;
  const uint64_t units = units_for(t, work_us, units_per_us);
  const long rounds = bench_repeat(b, 2000 * (alone_us + work_us), 5, 2000);
  struct times times = {0};
  long done = 0;
  for (const uint64_t start = now_ns(); bench_goes_on(b, done, rounds, start); ++done) {
    samples_add(&times.communication, round_us(t, true, 0));
    samples_add(&times.computation, round_us(t, false, units));
    samples_add(&times.both, round_us(t, true, units));
  }
  const double communication = summarise(&times.communication).median;
  const double computation = summarise(&times.computation).median;
  const double both = summarise(&times.both).median;
  const double longer = communication > computation ? communication : computation;
  const double shorter = communication > computation ? computation : communication;
  const double hidden = shorter > 0 ? (communication + computation - both) / shorter : 0;
  table_row(
      &b->table, side,
      (double[]){(double)t->bytes, communication, computation, both, longer > 0 ? both / longer : 0,
                 100 * hidden, (double)done, computation > 0 ? both / computation : 0});
  samples_free(&times.communication);
  samples_free(&times.computation);
  samples_free(&times.both);
}

static bool computes(const char* side, int rank) {
  return strcmp(side, "both") == 0 || strcmp(side, rank == 0 ? "sender" : "receiver") == 0;
}

int main(int argc, char** argv) {
  struct bench b = {.name = "overlap",
                    .about =
                        "overlap: how much of a transfer hides behind computation.\n"
                        "ratio 1: all of it; 2: none.",
                    .thread_level = MPI_THREAD_SINGLE,
                    .ranks = 2,
                    .seconds = 1};
  struct list sizes = {.count = 0};
  list_read(&sizes, "64K,256K,1M,4M,16M");
  const char* side = "both";
  struct computation computation = {.factor = 1};
  const struct option own[] = {
      {"--sizes", option_list, &sizes, "bytes of a message"},
      {"--side", option_text, &side, "computing side: both, sender, receiver, or all (in turn)"},
      {"--factor", option_number, &computation.factor, "computation as a multiple of the transfer"},
      {"--work", option_number, &computation.work_us, "computation in us; 0: by --factor"},
      {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  double units_per_us = work_units_per_us();
  MPI_Bcast(&units_per_us, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  const struct column columns[] = {{"bytes", 0}, {"comm_us", 1},    {"comp_us", 1}, {"both_us", 1},
                                   {"ratio", 3}, {"hidden_pct", 1}, {"rounds", 0},  {"of_comp", 3}};
  bench_table(&b, "side", columns, 8);
  static const char* const sides[] = {"both", "sender", "receiver"};
  for (int s = 0; s < 3; ++s) {
    if (strcmp(side, "all") != 0 && strcmp(side, sides[s]) != 0) continue;
    for (int i = 0; i < sizes.count; ++i) {
      struct transfer t = {&b, sizes.value[i], buffer(sizes.value[i]), computes(sides[s], b.rank)};
      measure(&b, &t, sides[s], units_per_us, &computation);
      free(t.memory);
    }
  }
  return bench_finish(&b);
}
