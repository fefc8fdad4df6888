/// How much longer a computation takes beside operations on the window of the rank that computes:
/// rank 0 puts, or adds, 8 bytes at a steady rate; rank 1 computes and makes no call.
#include <stdlib.h>

#include "bench.h"

enum { over_tag = 1, turns = 5 };

static int64_t data[2];

static void put(MPI_Win win) {
  MPI_Put(data, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win);
  MPI_Win_flush(1, win);
}
static void fetch_and_op(MPI_Win win) {
  MPI_Fetch_and_op(data, data + 1, MPI_INT64_T, 1, 0, MPI_SUM, win);
  MPI_Win_flush(1, win);
}

/// The origin, until the target says that it has computed. Returns the operations a second.
static double operate(MPI_Win win, void (*run)(MPI_Win), double per_second) {
  MPI_Request over;
  MPI_Irecv(NULL, 0, MPI_BYTE, 1, over_tag, MPI_COMM_WORLD, &over);
  const uint64_t start = now_ns();
  long count = 0;
  for (int done = 0; !done; ++count) {
    while ((double)(now_ns() - start) < (double)count * 1e9 / per_second) {
    }
    run(win);
    MPI_Test(&over, &done, MPI_STATUS_IGNORE);
  }
  return (double)count * 1e9 / (double)(now_ns() - start);
}

static double compute(uint64_t units) {
  const uint64_t start = now_ns();
  work(units);
  return (double)(now_ns() - start);
}

static void run_row(struct bench* b, MPI_Win win, const char* name, void (*run)(MPI_Win),
                    double per_second) {
  const uint64_t units = (uint64_t)(work_units_per_us() * 1e6 * b->seconds / (2 * turns));
  struct samples ratios = {0};
  double rate = 0;
  if (b->rank == 0) MPI_Win_lock_all(0, win);
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (b->rank == 0) {
      MPI_Recv(NULL, 0, MPI_BYTE, 1, over_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      rate += operate(win, run, per_second) / turns;
    } else {
      const double alone = compute(units);
      MPI_Send(NULL, 0, MPI_BYTE, 0, over_tag, MPI_COMM_WORLD);
      samples_add(&ratios, compute(units) / alone);
      MPI_Send(NULL, 0, MPI_BYTE, 0, over_tag, MPI_COMM_WORLD);
    }
  }
  if (b->rank == 0) MPI_Win_unlock_all(win);
  const double slowed = largest(summarise(&ratios).median);
  table_row(&b->table, name, (double[]){per_second, rate, slowed});
  samples_free(&ratios);
}

int main(int argc, char** argv) {
  struct bench b = {.name = "target_load",
                    .about = "target_load: a computation beside operations on its window.",
                    .thread_level = MPI_THREAD_SINGLE,
                    .ranks = 2,
                    .seconds = 0.5};
  double per_second = 100e3;
  bool created = false;
  const struct option own[] = {
      {"--rate", option_number, &per_second, "operations a second"},
      {"--created", option_flag, &created, "MPI_Win_create instead of MPI_Win_allocate"},
      {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  MPI_Win win;
  int64_t* base = NULL;
  int64_t memory[8] = {0};
  if (created) {
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  } else {
    MPI_Win_allocate(sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  }
  const struct column columns[] = {{"wanted_per_s", 0}, {"per_s", 0}, {"slowed", 4}};
  bench_table(&b, "operation", columns, 3);
  run_row(&b, win, "put", put, per_second);
  run_row(&b, win, "fetch_op", fetch_and_op, per_second);
  MPI_Win_free(&win);
  return bench_finish(&b);
}
