/// N threads on each side, each pair with its own tag: one-way time and exchanges per second by N
/// (pioman15, figure 11).
#include <limits.h>
#include <stdlib.h>

#include "bench.h"

enum { last_message = 1 };  ///< in the first byte of the message that ends the row

struct player {
  int rank, tag;
  uint64_t end_ns;
  long most;
  double mean_us;  ///< out: one way
  double count;    ///< out: exchanges
};

static void ask_until_the_end(struct player* p) {
  char byte = 0;
  const uint64_t start = now_ns();
  uint64_t now = start;
  while (byte != last_message) {
    p->count += 1;
    byte = now > p->end_ns || p->count >= (double)p->most ? last_message : 0;
    MPI_Send(&byte, 1, MPI_BYTE, 1, p->tag, MPI_COMM_WORLD);
    MPI_Recv(&byte, 1, MPI_BYTE, 1, p->tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    now = now_ns();
  }
  p->mean_us = (double)(now - start) / p->count / 2000;
}

static void answer_until_the_end(const struct player* p) {
  char byte = 0;
  while (byte != last_message) {
    MPI_Recv(&byte, 1, MPI_BYTE, 0, p->tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&byte, 1, MPI_BYTE, 0, p->tag, MPI_COMM_WORLD);
  }
}

static void* play(void* argument) {
  struct player* p = argument;
  if (p->rank == 0) ask_until_the_end(p);
  else answer_until_the_end(p);
  return NULL;
}

static void measure(struct bench* b, int threads) {
  struct player* players = calloc((size_t)threads, sizeof *players);
  if (players == NULL) abort();
  const uint64_t start = now_ns();
  for (int i = 0; i < threads; ++i) {
    players[i] = (struct player){.rank = b->rank, .tag = i, .most = LONG_MAX};
    players[i].end_ns = start + (uint64_t)(b->seconds * 1e9);
    if (b->iterations == 0) continue;
    players[i].most = (long)b->iterations;
    players[i].end_ns = UINT64_MAX;
  }
  run_threads(threads, play, players, sizeof *players);
  const double seconds = (double)(now_ns() - start) * 1e-9;
  double count = 0, slowest = 0, sum = 0, fewest = players[0].count;
  for (int i = 0; i < threads; ++i) {
    count += players[i].count;
    sum += players[i].mean_us;
    if (players[i].mean_us > slowest) slowest = players[i].mean_us;
    if (players[i].count < fewest) fewest = players[i].count;
  }
  free(players);
  const double share = fewest * threads / count;  // of the mean rate; 1: all pairs are equal
  table_row(&b->table, NULL,
            (double[]){threads, sum / threads, slowest, count / seconds, count, share});
}

int main(int argc, char** argv) {
  struct bench b = {.name = "n_to_n",
                    .about = "n_to_n: ping-pongs of N pairs of threads at the same time, 1 byte.",
                    .thread_level = MPI_THREAD_MULTIPLE,
                    .ranks = 2,
                    .seconds = 0.5};
  struct list threads = {.count = 0};
  list_read(&threads, "1,2,4,8,16,32,64");
  const struct option own[] = {{"--threads", option_list, &threads, "threads on each side"},
                               {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  const struct column columns[] = {{"threads", 0},         {"mean_us", 2},   {"slowest_us", 2},
                                   {"exchanges_per_s", 0}, {"exchanges", 0}, {"slowest_share", 2}};
  bench_table(&b, NULL, columns, 6);
  for (int i = 0; i < threads.count; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    measure(&b, (int)threads.value[i]);
  }
  return bench_finish(&b);
}
