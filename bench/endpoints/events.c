/* E18: one producer hands events to N consumers, each a thread with an end-point.
 *
 *   events [--consumers N] [--events COUNT] [--gap US] [--json FILE]
 *
 * After each event the producer computes for GAP us. Production delay: how much later than planned
 * an event was made. Handling delay: from its making until its consumer has it. */
#define _GNU_SOURCE
#include <headway/endpoint.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { consumers_max = 256, events_max = 1000000 };
static int consumers = 1, events = 20000;
static double gap_us = 10;
static double handling[events_max], production[events_max];
static headway_endpoint all[consumers_max];

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

struct event {
  double made_us;
  int number;
};

static void* consume(void* argument) {
  const headway_endpoint mine = *(headway_endpoint*)argument;
  headway_message got;
  while (headway_endpoint_receive(mine, HEADWAY_ANY_TAG, NULL, HEADWAY_FOREVER, &got) ==
         HEADWAY_OK) {
    const struct event* e = got.data;
    handling[e->number] = now_us() - e->made_us;
    headway_buffer_release(got.data);
  }
  return NULL; /* closed */
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  const char* json = NULL;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--consumers") == 0) consumers = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--events") == 0) events = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--gap") == 0) gap_us = atof(argv[i + 1]);
    if (strcmp(argv[i], "--json") == 0) json = argv[i + 1];
  }
  if (consumers < 1 || consumers > consumers_max || events < 1 || events > events_max) return 2;
  pthread_t threads[consumers_max];
  for (int i = 0; i < consumers; ++i) {
    if (headway_endpoint_open(NULL, &all[i])) return 1;
    pthread_create(&threads[i], NULL, consume, &all[i]);
  }
  unsigned seed = 1;
  double planned = now_us() + 1000;
  for (int i = 0; i < events; ++i) {
    while (now_us() < planned) {
    }
    struct event* e;
    if (headway_buffer_request(sizeof *e, (void**)&e)) return 1;
    e->made_us = now_us();
    e->number = i;
    production[i] = e->made_us - planned;
    seed = seed * 1664525u + 1013904223u;
    const headway_address to = headway_endpoint_address(all[(seed >> 8) % (unsigned)consumers]);
    const double made = e->made_us;
    if (headway_endpoint_send(0, to, 0, e, sizeof *e, HEADWAY_FOREVER)) return 1;
    planned = (made > planned ? made : planned) + gap_us;
  }
  const struct timespec settle = {0, 100000000};
  nanosleep(&settle, NULL);
  for (int i = 0; i < consumers; ++i) headway_endpoint_close(all[i]);
  for (int i = 0; i < consumers; ++i) pthread_join(threads[i], NULL);
  qsort(handling, (size_t)events, sizeof *handling, by_value);
  qsort(production, (size_t)events, sizeof *production, by_value);
  const double h = handling[events / 2], p = production[events / 2];
  const double h99 = handling[events - 1 - events / 100];
  printf("%3d consumers: handling %.3f us (99 %%: %.3f), production %.3f us\n", consumers, h, h99,
         p);
  FILE* file = json ? fopen(json, "w") : NULL;
  if (file) {
    fprintf(file,
            "{\"rows\": [{\"consumers\": %d, \"handling_us\": %.4f, \"handling_99_us\": %.4f, "
            "\"production_us\": %.4f}]}\n",
            consumers, h, h99, p);
    fclose(file);
  }
  return 0;
}
