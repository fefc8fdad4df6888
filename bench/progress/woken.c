/// What Linux gives a thread that is woken for each message and then works, beside N threads that
/// compute: the floor for E9, without any library of ours. Two processes, one on each core, answer
/// one another; each answer is WORK microseconds of arithmetic, as the copy of a message is. With
/// --helpers K the work is done by K threads in turn, and the one that asks only wakes and sleeps.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpi/measure.h"
#include "mpi/options.h"
#include "mpi/table.h"

enum { helpers_max = 16 };

/// One process. Descriptors are made before the fork, so both processes have all of them.
struct side {
  int helper[helpers_max];  ///< rung by the other side, in turn; without helpers the first only
  int owner;                ///< rung by a helper when its work is done
};

static struct side sides[2];
static int helpers;
static uint64_t units;
static bool short_slices, greatest_weight;
static atomic_bool* over;  ///< shared by the processes; carries no data

static void ring(int descriptor) {
  const uint64_t one = 1;
  if (write(descriptor, &one, sizeof one) < 0) perror("ring");
}

static void sleep_on(int descriptor) {
  uint64_t rings;
  if (read(descriptor, &rings, sizeof rings) < 0) perror("sleep");
}

static void* compute(void* unused) {
  (void)unused;
  for (;;) work(100);
  return NULL;
}

struct helper {
  struct side* of;
  int number;
};

static void* help(void* argument) {
  const struct helper* me = argument;
  if (short_slices) ask_short_slices();
  for (;;) {
    sleep_on(me->of->helper[me->number]);
    work(units);
    ring(me->of->owner);
  }
  return NULL;
}

/// Takes in what the other side sent.
static void receive(struct side* me) {
  if (helpers > 0) {
    sleep_on(me->owner);
  } else {
    sleep_on(me->helper[0]);
    work(units);
  }
}

static void send_to(struct side* other, long turn) {
  ring(other->helper[helpers > 0 ? turn % helpers : 0]);
}

static void start_threads(struct side* me, int threads) {
  static struct helper all[helpers_max];
  pthread_t unused;
  for (int i = 0; i < threads; ++i)
    if (pthread_create(&unused, NULL, compute, NULL) != 0) abort();
  for (int i = 0; i < helpers; ++i) {
    all[i] = (struct helper){me, i};
    if (pthread_create(&unused, NULL, help, &all[i]) != 0) abort();
  }
  if (short_slices) ask_short_slices();
  if (greatest_weight && setpriority(PRIO_PROCESS, (id_t)gettid(), -20) != 0) perror("setpriority");
}

static void answer(int threads) {
  pin_to_core(1);
  start_threads(&sides[1], threads);
  for (long turn = 0;; ++turn) {
    receive(&sides[1]);
    if (atomic_load_explicit(over, memory_order_relaxed)) _exit(0);
    send_to(&sides[0], turn);
  }
}

static void ask(struct samples* samples, int threads, double seconds) {
  pin_to_core(0);
  start_threads(&sides[0], threads);
  const uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
  for (long turn = 0;; ++turn) {
    const uint64_t start = now_ns();
    if (start >= end) atomic_store_explicit(over, true, memory_order_relaxed);
    send_to(&sides[1], turn);
    if (start >= end) return;
    receive(&sides[0]);
    samples_add(samples, (double)(now_ns() - start) / 2000);
  }
}

/// Runs it in separate processes, so that the computing threads end with them.
static void measure(struct table* t, int threads, double seconds) {
  int result[2];
  if (pipe(result) != 0) abort();
  atomic_store_explicit(over, false, memory_order_relaxed);
  for (int s = 0; s < 2; ++s) {
    sides[s].owner = eventfd(0, 0);
    for (int i = 0; i < helpers_max; ++i) sides[s].helper[i] = eventfd(0, 0);
  }
  const pid_t answering = fork();
  if (answering == 0) answer(threads);
  const pid_t asking = fork();
  if (asking == 0) {
    struct samples samples = {0};
    ask(&samples, threads, seconds);
    const double count = (double)samples.count;
    const struct summary s = summarise(&samples);
    const double row[] = {threads, s.mean, s.median, s.best, s.worst, count};
    _exit(write(result[1], row, sizeof row) == sizeof row ? 0 : 1);
  }
  double row[6];
  if (read(result[0], row, sizeof row) == sizeof row) table_row(t, NULL, row);
  waitpid(asking, NULL, 0);
  waitpid(answering, NULL, 0);
  close(result[0]), close(result[1]);
  for (int s = 0; s < 2; ++s) {
    close(sides[s].owner);
    for (int i = 0; i < helpers_max; ++i) close(sides[s].helper[i]);
  }
}

int main(int argc, char** argv) {
  struct list threads = {.count = 0};
  list_read(&threads, "0,1,4,16");
  double work_us = 35, seconds = 2, wanted_helpers = 0;
  const char* csv = NULL;
  bool ordinary = false;
  const struct option own[] = {
      {"--threads", option_list, &threads, "computing threads a side"},
      {"--work", option_number, &work_us, "microseconds of work for each message"},
      {"--helpers", option_number, &wanted_helpers, "threads that do it in turn; 0: who waits"},
      {"--weight", option_flag, &greatest_weight, "who waits has the greatest weight (nice -20)"},
      {"--ordinary", option_flag, &ordinary, "without asking for short slices"},
      {"--seconds", option_number, &seconds, "of each row"},
      {"--csv", option_text, &csv, "also write the table to this file"},
      {NULL, option_flag, NULL, NULL}};
  const struct option none[] = {{NULL, option_flag, NULL, NULL}};
  options_read("woken: a woken thread that works, beside N that compute.", own, none, argc, argv);
  helpers = wanted_helpers > helpers_max ? helpers_max : (int)wanted_helpers;
  short_slices = !ordinary;
  units = (uint64_t)(work_us * work_units_per_us());
  over = mmap(NULL, sizeof *over, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (over == MAP_FAILED) abort();
  const struct column columns[] = {{"threads", 0}, {"mean_us", 1},  {"median_us", 1},
                                   {"best_us", 1}, {"worst_us", 1}, {"exchanges", 0}};
  struct table t;
  table_open(&t, NULL, columns, 6, false);
  for (int i = 0; i < threads.count; ++i) measure(&t, (int)threads.value[i], seconds);
  return table_close(&t, csv) ? 0 : 1;
}
