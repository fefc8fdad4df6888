/* The token benchmark of pCoR (2002): tokens travel from thread to thread, each costs a little work
 * where it arrives, and returns to the producer when its time to live is over.
 *
 *   mpiexec -n 1+P tokens [--threads T] [--work W] [--tokens N] [--ttl N] [--policy P] [--polls A]
 *          [--json FILE]
 *
 * Process 0 produces; the others hold T threads each. A token's work is W times 10 us (145 us in
 * the paper: processors were slower), cut into A parts with a look for messages after each.
 * P: auto, pause, yield, loop, event. Prints seconds, and communication time as in the paper:
 * seconds minus the work divided by the processors. */
#define _GNU_SOURCE
#include <headway/endpoint.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { tag_token = 1, tag_home = 2, tag_end = 3, threads_max = 64, token_bytes = 256 };

struct token {
  uint32_t seed;
  uint32_t ttl;
  char rest[token_bytes - 8];
};

static const char* json;
static int threads = 1, tokens = 32, ttl = 1000, work = 0, polls = 0;
static headway_address all[1024];
static headway_address producer;
static int all_count;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check(int status) {
  if (status == HEADWAY_OK) return;
  fprintf(stderr, "tokens: %s: %s\n", headway_status_text(status), headway_error_text());
  exit(1);
}

/* Computes for so long as one work level takes: by the thread's own time, so that a processor
 * shared with others does not make it shorter. */
static void compute(double seconds) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  const double end = (double)t.tv_sec + (double)t.tv_nsec * 1e-9 + seconds;
  do {
    for (volatile int i = 0; i < 100; ++i) {
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  } while ((double)t.tv_sec + (double)t.tv_nsec * 1e-9 < end);
}

static void be_busy(void) {
  const double whole = work * 10e-6;
  if (polls == 0) {
    if (work) compute(whole);
    return;
  }
  for (int i = 0; i < polls; ++i) {
    if (work) compute(whole / polls);
    headway_endpoint_dispatch(1);
  }
}

static uint32_t next_of(struct token* t) {
  t->seed = t->seed * 1664525u + 1013904223u;
  return (t->seed >> 8) % (uint32_t)all_count;
}

static void* consume(void* argument) {
  const headway_endpoint mine = *(headway_endpoint*)argument;
  for (;;) {
    headway_message got;
    check(headway_endpoint_receive(mine, HEADWAY_ANY_TAG, NULL, HEADWAY_FOREVER, &got));
    if (got.tag == tag_end) return NULL;
    struct token* t = got.data;
    be_busy();
    const int over = --t->ttl == 0;
    check(headway_endpoint_send(mine, over ? producer : all[next_of(t)],
                                over ? tag_home : tag_token, t, got.bytes, HEADWAY_FOREVER));
  }
}

static void produce(headway_endpoint mine) {
  const double began = now();
  for (int i = 0; i < tokens; ++i) {
    struct token* t;
    check(headway_buffer_request(sizeof *t, (void**)&t));
    memset(t, 0, sizeof *t);
    t->seed = (uint32_t)i * 7919u + 1;
    t->ttl = (uint32_t)ttl;
    check(headway_endpoint_send(mine, all[next_of(t)], tag_token, t, sizeof *t, HEADWAY_FOREVER));
  }
  for (int i = 0; i < tokens; ++i) {
    headway_message got;
    check(headway_endpoint_receive(mine, tag_home, NULL, HEADWAY_FOREVER, &got));
    check(headway_buffer_release(got.data));
  }
  const double took = now() - began;
  for (int i = 0; i < all_count; ++i)
    check(headway_endpoint_send(mine, all[i], tag_end, NULL, 0, HEADWAY_FOREVER));
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  const long useful = all_count < processors ? all_count : processors;
  const double computing = tokens * (double)ttl * work * 10e-6 / (double)useful;
  if (json) {
    FILE* file = fopen(json, "w");
    if (file) {
      fprintf(file,
              "{\"rows\": [{\"seconds\": %.6f, \"communication_s\": %.6f, \"hop_us\": %.4f}]}\n",
              took, took - computing, took / tokens / ttl * 1e6);
      fclose(file);
    }
  }
  printf("%.6f s, communication %.6f s, %.3f us a hop\n", took, took - computing,
         took / tokens / ttl * 1e6);
}

static int policy_of(const char* name) {
  static const char* const names[] = {"auto", "pause", "yield", "loop", "event"};
  for (int i = 0; i < 5; ++i)
    if (strcmp(name, names[i]) == 0) return i;
  fprintf(stderr, "tokens: no policy %s\n", name);
  exit(2);
}

static void look_up_all(int processes) {
  check(headway_endpoint_lookup("producer", HEADWAY_FOREVER, &producer));
  for (int p = processes > 1; p < processes; ++p)
    for (int t = 0; t < threads; ++t) {
      char name[32];
      snprintf(name, sizeof name, "token/%d/%d", p, t);
      check(headway_endpoint_lookup(name, HEADWAY_FOREVER, &all[all_count++]));
    }
}

int main(int argc, char** argv) {
  int policy = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    const char* value = argv[i + 1];
    if (strcmp(argv[i], "--threads") == 0) threads = atoi(value);
    if (strcmp(argv[i], "--work") == 0) work = atoi(value);
    if (strcmp(argv[i], "--tokens") == 0) tokens = atoi(value);
    if (strcmp(argv[i], "--ttl") == 0) ttl = atoi(value);
    if (strcmp(argv[i], "--polls") == 0) polls = atoi(value);
    if (strcmp(argv[i], "--json") == 0) json = value;
    if (strcmp(argv[i], "--policy") == 0) policy = policy_of(value);
  }
  check(headway_join());
  const int me = headway_process(), n = headway_process_count();
  if (threads < 1 || threads > threads_max || (n > 1 ? n - 1 : 1) * threads > 1024) return 2;
  check(headway_endpoint_dispatch_policy(policy));
  headway_endpoint home = 0, own[threads_max];
  pthread_t running[threads_max];
  if (me == 0) check(headway_endpoint_open("producer", &home));
  const int consumes = me > 0 || n == 1;
  for (int t = 0; consumes && t < threads; ++t) {
    char name[32];
    snprintf(name, sizeof name, "token/%d/%d", me, t);
    check(headway_endpoint_open(name, &own[t]));
  }
  look_up_all(n);
  for (int t = 0; consumes && t < threads; ++t) pthread_create(&running[t], NULL, consume, &own[t]);
  if (me == 0) produce(home);
  for (int t = 0; consumes && t < threads; ++t) pthread_join(running[t], NULL);
  return 0;
}
