/// Time of one cache line between two cores. Needs no MPI and no launcher.
/// Two pinned threads pass a number to and fro in shared memory, spinning. On a virtual machine the
/// host moves the cores, and times of small messages change with this figure: print it with them.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "options.h"
#include "table.h"

/// The cache line. Even: turn of the first thread; odd: of the second. Relaxed: carries no data.
static _Alignas(128) atomic_ulong line;

struct player {
  int core;
  unsigned long turns;
};

static void* answer(void* argument) {
  const struct player* p = argument;
  pin_to_core(p->core);
  for (unsigned long turn = 0; turn < p->turns; ++turn) {
    while (atomic_load_explicit(&line, memory_order_relaxed) != 2 * turn + 1) {
    }
    atomic_store_explicit(&line, 2 * turn + 2, memory_order_relaxed);
  }
  return NULL;
}

/// Nanoseconds one way, the mean of `turns` turns.
static double bounce(const struct player* answerer) {
  atomic_store_explicit(&line, 0, memory_order_relaxed);
  pthread_t thread;
  if (pthread_create(&thread, NULL, answer, (void*)answerer) != 0) {
    perror("pthread_create");
    exit(1);
  }
  uint64_t start = 0;
  const unsigned long warm = answerer->turns / 10;
  for (unsigned long turn = 0; turn < answerer->turns; ++turn) {
    if (turn == warm) start = now_ns();
    atomic_store_explicit(&line, 2 * turn + 1, memory_order_relaxed);
    while (atomic_load_explicit(&line, memory_order_relaxed) != 2 * turn + 2) {
    }
  }
  const double took = (double)(now_ns() - start);
  pthread_join(thread, NULL);
  return took / (double)(answerer->turns - warm) / 2;
}

int main(int argc, char** argv) {
  double first = 0, second = 1, iterations = 20;
  const char* csv = NULL;
  const struct option own[] = {{"--first", option_number, &first, "usable core of one thread"},
                               {"--second", option_number, &second, "usable core of the other one"},
                               {"--iterations", option_number, &iterations, "bursts to measure"},
                               {"--csv", option_text, &csv, "also write the table to this file"},
                               {NULL, option_flag, NULL, NULL}};
  const struct option none[] = {{NULL, option_flag, NULL, NULL}};
  options_read("cache_line: one-way time of a cache line between two cores.", none, own, argc,
               argv);
  if (usable_cores() < 2) {
    fprintf(stderr, "cache_line: one usable core only, nothing to measure\n");
    return 3;
  }
  pin_to_core((int)first);
  const struct player answerer = {(int)second, 4000};
  struct samples samples = {0};
  for (int i = 0; i < (int)iterations; ++i) samples_add(&samples, bounce(&answerer));
  const struct summary s = summarise(&samples);
  samples_free(&samples);
  const struct column columns[] = {
      {"median_ns", 1}, {"mean_ns", 1}, {"best_ns", 1}, {"worst_ns", 1}};
  struct table table;
  table_open(&table, NULL, columns, 4, false);
  table_row(&table, NULL, (double[]){s.median, s.mean, s.best, s.worst});
  return table_close(&table, csv) ? 0 : 1;
}
