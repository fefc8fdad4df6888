/// The time that a background thread takes from the thread that computes on its core, by how it is
/// woken:
/// by a timer that the computing thread sets (timerfd, for `--after` microseconds later), or at
/// once (futex). The reason why event_thread.cpp first watches without a timer. Does not use
/// Headway.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "mpi/measure.h"
#include "mpi/options.h"
#include "mpi/table.h"

static int timer;
static _Atomic uint32_t word;
static bool by_timer;
static _Atomic bool ended;

static void* sleeper(void* nothing) {
  (void)nothing;
  for (uint32_t seen = 0; !ended; seen = atomic_load(&word)) {
    uint64_t times;
    if (!by_timer) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    else if (read(timer, &times, sizeof times) < 0) break;
  }
  return NULL;
}

static void wake(double after_us) {
  if (by_timer) {
    const struct itimerspec when = {.it_value = {.tv_sec = 0, .tv_nsec = (long)(after_us * 1000)}};
    timerfd_settime(timer, 0, &when, NULL);
  } else {
    atomic_fetch_add(&word, 1);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  }
}

/// Microseconds in which the clock was not read: another thread had the core.
static double lost_us(double for_us) {
  const uint64_t end = now_ns() + (uint64_t)(for_us * 1000);
  uint64_t lost = 0;
  for (uint64_t last = now_ns(), now; last < end; last = now) {
    now = now_ns();
    if (now - last > 1000) lost += now - last;
  }
  return (double)lost / 1000;
}

static void measure(struct table* t, const char* way, double after_us, long times) {
  struct samples call = {0}, lost = {0};
  for (long i = 0; i < times; ++i) {
    const uint64_t before = now_ns();
    wake(after_us);
    samples_add(&call, (double)(now_ns() - before) / 1000);
    samples_add(&lost, lost_us(2 * after_us + 100));
  }
  table_row(t, way, (double[]){summarise(&call).median, summarise(&lost).median});
  samples_free(&call);
  samples_free(&lost);
}

int main(int argc, char** argv) {
  double after_us = 50, times = 500;
  const char* csv = NULL;
  const struct option own[] = {{"--after", option_number, &after_us, "the timer's microseconds"},
                               {"--times", option_number, &times, "wake-ups of each kind"},
                               {"--csv", option_text, &csv, "also write the table to this file"},
                               {NULL, option_flag, NULL, NULL}};
  const struct option none[] = {{NULL, option_flag, NULL, NULL}};
  options_read("timer: a timer against a wake-up, as the core that computes sees them.", own, none,
               argc, argv);
  timer = timerfd_create(CLOCK_MONOTONIC, 0);
  if (timer < 0 || !pin_to_core(0)) {
    perror("timer");
    return 1;
  }
  const struct column columns[] = {{"call_us", 1}, {"lost_us", 1}};
  struct table t;
  table_open(&t, "way", columns, 2, false);
  for (int way = 0; way < 2; ++way) {
    pthread_t thread;
    by_timer = way == 0;
    ended = false;
    if (pthread_create(&thread, NULL, sleeper, NULL) != 0) return 1;
    measure(&t, by_timer ? "timer" : "wake-up", after_us, (long)times);
    ended = true;
    wake(1);
    pthread_join(thread, NULL);
  }
  return table_close(&t, csv) ? 0 : 1;
}
