#define _GNU_SOURCE
#include "measure.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void samples_add(struct samples* s, double value) {
  if (s->count == samples_max) return;
  if (s->count == s->capacity) {
    s->capacity = s->capacity == 0 ? 1024 : 2 * s->capacity;
    s->value = realloc(s->value, s->capacity * sizeof *s->value);
    if (s->value == NULL) {
      perror("samples");
      exit(1);
    }
  }
  s->value[s->count++] = value;
}

void samples_free(struct samples* s) {
  free(s->value);
  *s = (struct samples){0};
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

struct summary summarise(struct samples* s) {
  if (s->count == 0) return (struct summary){0};
  qsort(s->value, s->count, sizeof *s->value, ascending);
  double sum = 0;
  for (size_t i = 0; i < s->count; ++i) sum += s->value[i];
  const size_t half = s->count / 2;
  const double median =
      s->count % 2 == 1 ? s->value[half] : (s->value[half - 1] + s->value[half]) / 2;
  return (struct summary){.best = s->value[0],
                          .median = median,
                          .mean = sum / (double)s->count,
                          .p99 = s->value[(s->count - 1) * 99 / 100],
                          .worst = s->value[s->count - 1]};
}

double median_of(struct samples* s) {
  const double median = summarise(s).median;
  samples_free(s);
  return median;
}

void work(uint64_t units) {
  static _Thread_local volatile uint64_t sink;
  uint64_t x = sink | 1;
  for (uint64_t u = 0; u < units; ++u) {
    // Each step needs the one before, so the time depends on the core's frequency alone.
    for (int step = 0; step < 32; ++step) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
    }
  }
  sink = x;
}

double work_units_per_us(void) {
  const uint64_t units = 20000;
  uint64_t best = UINT64_MAX;
  for (int attempt = 0; attempt < 40; ++attempt) {
    const uint64_t start = now_ns();
    work(units);
    const uint64_t took = now_ns() - start;
    if (took < best) best = took;
  }
  return (double)units * 1000.0 / (double)best;
}

/// The cores of the cpuset, also those that a launcher's binding excludes: asks for all cores,
/// reads back which the kernel granted, and restores the binding.
static cpu_set_t allowed_cores(void) {
  cpu_set_t before, all, allowed;
  sched_getaffinity(0, sizeof before, &before);
  CPU_ZERO(&all);
  for (int core = 0; core < CPU_SETSIZE; ++core) CPU_SET(core, &all);
  if (sched_setaffinity(0, sizeof all, &all) != 0) return before;
  sched_getaffinity(0, sizeof allowed, &allowed);
  sched_setaffinity(0, sizeof before, &before);
  return allowed;
}

int usable_cores(void) {
  const cpu_set_t allowed = allowed_cores();
  return CPU_COUNT(&allowed);
}

bool pin_to_core(int index) {
  const cpu_set_t allowed = allowed_cores();
  int skip = index % CPU_COUNT(&allowed);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || skip-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
  }
  return false;
}

void ask_short_slices(void) {
  struct {  // the kernel's struct sched_attr; `runtime` is the slice of an ordinary thread
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attributes = {.size = 48, .policy = SCHED_OTHER, .runtime = 100000};
  if (syscall(SYS_sched_setattr, 0, &attributes, 0u) != 0) perror("sched_setattr");
}

double processor_seconds(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}
