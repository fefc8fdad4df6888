/// How long after its last partition a partitioned transfer ends, when the partitions become ready
/// one after another: the sender computes before each. Runs on two ranks that read the same clock.
/// `tail_us`: from the last MPI_Pready to the end of the receiver's wait. `alone_us`, `whole_us`:
/// the same for one plain message of the size of a partition, and of all partitions.
/// `ratio` = tail / max(alone, wire): `wire_us` is what is left of `whole_us` after the time
/// between the first and the last MPI_Pready.
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

struct transfer {
  int rank;
  int partitions;
  size_t bytes;    ///< of a partition
  uint64_t units;  ///< of work before each partition
  char* memory;
  MPI_Request request;
};

/// When the last byte was given away and, on the sender of partitions, the first.
struct stamps {
  uint64_t first_ns, last_ns;
};

/// Microseconds from the sender's last stamp to `end_ns` of the receiver. On rank 1; 0 on rank 0,
/// which gets `spread_us`, the time between its own stamps, on rank 1 as well.
static double tail_us(int rank, struct stamps s, uint64_t end_ns, double* spread_us) {
  if (rank == 0) {
    MPI_Send(&s, sizeof s, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    return 0;
  }
  MPI_Recv(&s, sizeof s, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  *spread_us = (double)(s.last_ns - s.first_ns) / 1000;
  return end_ns > s.last_ns ? (double)(end_ns - s.last_ns) / 1000 : 0;
}

static double in_partitions(struct transfer* t, double* spread_us) {
  struct stamps s = {0, 0};
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Start(&t->request);
  for (int i = 0; t->rank == 0 && i < t->partitions; ++i) {
    work(t->units);
    s.last_ns = now_ns();
    if (i == 0) s.first_ns = s.last_ns;
    MPI_Pready(i, t->request);
  }
  MPI_Wait(&t->request, MPI_STATUS_IGNORE);
  return tail_us(t->rank, s, now_ns(), spread_us);
}

static double plainly(const struct transfer* t, size_t bytes) {
  struct stamps s = {0, 0};
  double unused = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (t->rank == 0) {
    work(t->units);  // the receiver waits when the message leaves, as with partitions
    s.first_ns = s.last_ns = now_ns();
    MPI_Send(t->memory, (int)bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(t->memory, (int)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return tail_us(t->rank, s, now_ns(), &unused);
}

static double slower_median(struct samples* s) { return largest(median_of(s)); }

static void measure(struct bench* b, struct transfer* t) {
  const size_t whole = t->bytes * (size_t)t->partitions;
  t->memory = buffer(whole);
  if (t->rank == 0)
    MPI_Psend_init(t->memory, t->partitions, (MPI_Count)t->bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &t->request);
  else
    MPI_Precv_init(t->memory, t->partitions, (MPI_Count)t->bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &t->request);
  double spread_us = 0;
  uint64_t start = now_ns();
  const int trial = 3;
  for (int i = 0; i < trial; ++i) in_partitions(t, &spread_us), plainly(t, whole);
  const long rounds = bench_repeat(b, (double)(now_ns() - start) / trial, 20, 20000);
  struct samples tails = {0}, spreads = {0}, alone = {0}, all = {0};
  start = now_ns();
  for (long i = 0; bench_goes_on(b, i, rounds, start); ++i) {
    samples_add(&tails, in_partitions(t, &spread_us));
    samples_add(&spreads, spread_us);
    samples_add(&alone, plainly(t, t->bytes));
    samples_add(&all, plainly(t, whole));
  }
  const double tail = slower_median(&tails), alone_us = slower_median(&alone),
               whole_us = slower_median(&all);
  const double left = whole_us - slower_median(&spreads), wire = left > 0 ? left : 0;
  const double bound = alone_us > wire ? alone_us : wire;
  table_row(&b->table, NULL,
            (double[]){(double)t->bytes, tail, alone_us, wire, whole_us,
                       bound > 0 ? tail / bound : 0, (double)rounds});
  MPI_Request_free(&t->request);
  free(t->memory);
}

int main(int argc, char** argv) {
  struct bench b = {.name = "partitioned",
                    .about = "partitioned: how long after its last partition a transfer ends.",
                    .thread_level = MPI_THREAD_SINGLE,
                    .ranks = 2,
                    .seconds = 0.5};
  struct list sizes = {.count = 0};
  list_read(&sizes, "1K,64K,1M");
  double partitions = 16, work_us = 100;
  const struct option own[] = {
      {"--sizes", option_list, &sizes, "bytes of a partition"},
      {"--partitions", option_number, &partitions, "of a transfer"},
      {"--work", option_number, &work_us, "computation before each partition, in microseconds"},
      {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  if (!b.one_clock || partitions < 1) {
    fprintf(stderr, "partitioned: needs ranks that read the same clock, and --partitions\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const struct column columns[] = {{"bytes", 0},    {"tail_us", 2}, {"alone_us", 2}, {"wire_us", 2},
                                   {"whole_us", 2}, {"ratio", 3},   {"rounds", 0}};
  bench_table(&b, NULL, columns, 7);
  const uint64_t units = (uint64_t)(work_us * work_units_per_us());
  for (int i = 0; i < sizes.count; ++i) {
    struct transfer t = {.rank = b.rank,
                         .partitions = (int)partitions,
                         .bytes = sizes.value[i],
                         .units = units,
                         .request = MPI_REQUEST_NULL};
    measure(&b, &t);
  }
  return bench_finish(&b);
}
