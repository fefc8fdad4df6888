/* E18: one producer hands events to N consumers, each a thread with an end-point.
 *
 *   events [--consumers N] [--events COUNT] [--gap US] [--csv FILE]
 *
 * After each event the producer computes for GAP us. Production delay: how much later than planned
 * an event was made. Handling delay: from its making until its consumer has it.
 *
 * In turns, batch after batch, the same is done without any library by N more threads, each of
 * which sleeps on a separate futex: the kernel's time to wake one of N (floor). */
#define _GNU_SOURCE
#include <headway/endpoint.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { consumers_max = 256, events_max = 1000000, batches = 20, slots = 4096 };
static int consumers = 1, events = 20000;
static double gap_us = 10;

/* The delays of the events of one kind. */
struct delays {
  double handling[events_max], production[events_max];
};
static struct delays by_points, by_futex;

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

struct event {
  double made_us;
  int number;
};

/* ---- end-points ---- */

static headway_endpoint all[consumers_max];

static void* consume(void* argument) {
  const headway_endpoint mine = *(headway_endpoint*)argument;
  headway_message got;
  while (headway_endpoint_receive(mine, HEADWAY_ANY_TAG, NULL, HEADWAY_FOREVER, &got) ==
         HEADWAY_OK) {
    const struct event* e = got.data;
    by_points.handling[e->number] = now_us() - e->made_us;
    headway_buffer_release(got.data);
  }
  return NULL; /* closed */
}

static void hand_by_point(int consumer, struct event what) {
  struct event* e;
  if (headway_buffer_request(sizeof *e, (void**)&e)) exit(1);
  *e = what;
  const headway_address to = headway_endpoint_address(all[consumer]);
  if (headway_endpoint_send(0, to, 0, e, sizeof *e, HEADWAY_FOREVER)) exit(1);
}

/* ---- a queue and a futex for each ---- */

struct sleeper {
  _Alignas(128) _Atomic uint32_t put; /* release: the slot is whole -> acquire: it is read */
  _Atomic uint32_t sleeps;            /* seq_cst, with `put`: one of the two sees the other */
  _Alignas(128) _Atomic uint32_t got; /* release: it was read -> acquire: it is written again */
  struct event queue[slots];
};
static struct sleeper sleepers[consumers_max];

static void* sleep_and_consume(void* argument) {
  struct sleeper* me = argument;
  for (uint32_t at = 0;; ++at) {
    while (atomic_load_explicit(&me->put, memory_order_acquire) == at) {
      atomic_store(&me->sleeps, 1);
      if (atomic_load(&me->put) == at)
        syscall(SYS_futex, &me->sleeps, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
      atomic_store(&me->sleeps, 0);
    }
    const struct event e = me->queue[at % slots];
    if (e.number < 0) return NULL;
    by_futex.handling[e.number] = now_us() - e.made_us;
    atomic_store_explicit(&me->got, at + 1, memory_order_release);
  }
}

static void hand_by_futex(int consumer, struct event what) {
  struct sleeper* to = &sleepers[consumer];
  const uint32_t at = atomic_load_explicit(&to->put, memory_order_relaxed);
  while (at - atomic_load_explicit(&to->got, memory_order_acquire) == slots) {
  }
  to->queue[at % slots] = what;
  atomic_store(&to->put, at + 1);
  if (atomic_load(&to->sleeps) && atomic_exchange(&to->sleeps, 0))
    syscall(SYS_futex, &to->sleeps, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ---- the measurement ---- */

static void produce(int first, int end, void (*hand)(int, struct event), double* production) {
  static unsigned seed = 1;
  double planned = now_us() + 1000;
  for (int i = first; i < end; ++i) {
    while (now_us() < planned) {
    }
    const double made = now_us();
    production[i] = made - planned;
    seed = seed * 1664525u + 1013904223u;
    hand((int)((seed >> 8) % (unsigned)consumers), (struct event){made, i});
    planned = (made > planned ? made : planned) + gap_us;
  }
  const struct timespec settle = {0, 20000000};
  nanosleep(&settle, NULL);
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

struct summary {
  double handling, handling_99, production;
};

static struct summary sum_up(struct delays* all_of) {
  qsort(all_of->handling, (size_t)events, sizeof *all_of->handling, by_value);
  qsort(all_of->production, (size_t)events, sizeof *all_of->production, by_value);
  return (struct summary){all_of->handling[events / 2], all_of->handling[events - 1 - events / 100],
                          all_of->production[events / 2]};
}

int main(int argc, char** argv) {
  const char* csv = NULL;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--consumers") == 0) consumers = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--events") == 0) events = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--gap") == 0) gap_us = atof(argv[i + 1]);
    if (strcmp(argv[i], "--csv") == 0) csv = argv[i + 1];
  }
  if (consumers < 1 || consumers > consumers_max || events < 1 || events > events_max) return 2;
  pthread_t threads[consumers_max], others[consumers_max];
  for (int i = 0; i < consumers; ++i) {
    if (headway_endpoint_open(NULL, &all[i])) return 1;
    pthread_create(&threads[i], NULL, consume, &all[i]);
    pthread_create(&others[i], NULL, sleep_and_consume, &sleepers[i]);
  }
  for (int b = 0; b < batches; ++b) {
    const int first = (int)((int64_t)events * b / batches);
    const int end = (int)((int64_t)events * (b + 1) / batches);
    produce(first, end, hand_by_point, by_points.production);
    produce(first, end, hand_by_futex, by_futex.production);
  }
  for (int i = 0; i < consumers; ++i) {
    headway_endpoint_close(all[i]);
    hand_by_futex(i, (struct event){0, -1});
  }
  for (int i = 0; i < consumers; ++i) {
    pthread_join(threads[i], NULL);
    pthread_join(others[i], NULL);
  }
  const struct summary ours = sum_up(&by_points), floor = sum_up(&by_futex);
  printf(
      "%3d consumers: handling %.3f us (99 %%: %.3f), production %.3f us\n"
      "     a futex each: handling %.3f us (99 %%: %.3f), production %.3f us\n",
      consumers, ours.handling, ours.handling_99, ours.production, floor.handling,
      floor.handling_99, floor.production);
  FILE* file = csv ? fopen(csv, "w") : NULL;
  if (file) {
    fprintf(file,
            "consumers,handling_us,handling_99_us,production_us,floor_us,floor_99_us\n"
            "%d,%.4f,%.4f,%.4f,%.4f,%.4f\n",
            consumers, ours.handling, ours.handling_99, ours.production, floor.handling,
            floor.handling_99);
    fclose(file);
  }
  return 0;
}
