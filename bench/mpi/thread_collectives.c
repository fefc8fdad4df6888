/// Time of a collective operation that several threads of each rank call at the same time, each on
/// a communicator of its own, on any number of ranks. Roots rotate. `mean_us` is the mean over the
/// threads, `slowest_us` the slowest thread's, both of the rank where they are largest.
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { batch = 16 };  ///< calls between two decisions to go on, which are not timed

struct player {
  MPI_Comm comm;
  int size;
  int count;  ///< doubles
  void (*run)(const struct player* p, int root);
  double* from;
  double* into;
  uint64_t end_ns;
  double most;     ///< calls
  double mean_us;  ///< out
  double calls;    ///< out
};

static void run_barrier(const struct player* p, int root) {
  (void)root;
  MPI_Barrier(p->comm);
}

static void run_bcast(const struct player* p, int root) {
  MPI_Bcast(p->into, p->count, MPI_DOUBLE, root, p->comm);
}

static void run_allreduce(const struct player* p, int root) {
  (void)root;
  MPI_Allreduce(p->from, p->into, p->count, MPI_DOUBLE, MPI_SUM, p->comm);
}

static const struct operation {
  const char* name;
  void (*run)(const struct player* p, int root);
  bool sized;
} operations[] = {{"barrier", run_barrier, false},
                  {"bcast", run_bcast, true},
                  {"allreduce", run_allreduce, true}};
enum { operations_count = sizeof operations / sizeof *operations };

/// Rank 0 decides when to end, so that all ranks make the same calls.
static bool goes_on(const struct player* p) {
  int more = now_ns() < p->end_ns && p->calls < p->most;
  MPI_Bcast(&more, 1, MPI_INT, 0, p->comm);
  return more != 0;
}

static void* play(void* argument) {
  struct player* p = argument;
  double sum_us = 0;
  do {
    const uint64_t start = now_ns();
    for (int i = 0; i < batch; ++i) p->run(p, i % p->size);
    sum_us += (double)(now_ns() - start) / 1000;
    p->calls += batch;
  } while (goes_on(p));
  p->mean_us = sum_us / p->calls;
  return NULL;
}

static void measure(struct bench* b, const struct operation* o, int threads, size_t bytes) {
  struct player* players = calloc((size_t)threads, sizeof *players);
  if (players == NULL) abort();
  const bool counted = b->iterations > 0;
  for (int i = 0; i < threads; ++i) {
    struct player* p = &players[i];
    *p = (struct player){.size = b->size, .run = o->run, .from = buffer(bytes)};
    p->into = buffer(bytes);
    p->count = bytes < sizeof(double) ? 1 : (int)(bytes / sizeof(double));
    for (int at = 0; at < p->count; ++at) p->from[at] = 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &p->comm);
    p->most = counted ? b->iterations : 1e18;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const uint64_t end_ns = counted ? UINT64_MAX : now_ns() + (uint64_t)(b->seconds * 1e9);
  for (int i = 0; i < threads; ++i) players[i].end_ns = end_ns;
  run_threads(threads, play, players, sizeof *players);
  double sum_us = 0, slowest_us = 0, calls = 0;
  for (int i = 0; i < threads; ++i) {
    sum_us += players[i].mean_us;
    calls += players[i].calls;
    if (players[i].mean_us > slowest_us) slowest_us = players[i].mean_us;
    MPI_Comm_free(&players[i].comm);
    free(players[i].from);
    free(players[i].into);
  }
  free(players);
  table_row(&b->table, o->name,
            (double[]){b->size, threads, (double)bytes, largest(sum_us / threads),
                       largest(slowest_us), calls});
}

int main(int argc, char** argv) {
  struct bench b = {.name = "thread_collectives",
                    .about =
                        "thread_collectives: collective operations of T threads of each rank\n"
                        "at the same time, a communicator for each thread.",
                    .thread_level = MPI_THREAD_MULTIPLE,
                    .seconds = 0.2};
  struct list threads = {.count = 0}, sizes = {.count = 0};
  list_read(&threads, "1,2,4");
  list_read(&sizes, "8,1K,8K");
  const struct option own[] = {{"--threads", option_list, &threads, "threads of each rank"},
                               {"--sizes", option_list, &sizes, "bytes of the vector"},
                               {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  const struct column columns[] = {{"ranks", 0},   {"threads", 0},    {"bytes", 0},
                                   {"mean_us", 2}, {"slowest_us", 2}, {"calls", 0}};
  bench_table(&b, "operation", columns, 6);
  for (int o = 0; o < operations_count; ++o)
    for (int t = 0; t < threads.count; ++t)
      for (int i = 0; i < (operations[o].sized ? sizes.count : 1); ++i)
        measure(&b, &operations[o], (int)threads.value[t],
                operations[o].sized ? (size_t)sizes.value[i] : 0);
  return bench_finish(&b);
}
