/* The token benchmark of pCoR (2002): tokens travel from thread to thread, each costs a little work
 * where it arrives, and returns to the producer when its time to live is over.
 *
 *   mpiexec -n 1+P tokens [--threads T] [--work W] [--tokens N] [--ttl N] [--policy P] [--polls A]
 *          [--strategies P/A,P/A,… --rounds N --turn-ms MS] [--csv FILE]
 *
 * Process 0 produces; the others hold T threads each. A token's work is W times 145 us as in the
 * paper, cut into A parts with a poll for messages after each.
 * P: auto, pause, yield, loop, event. Prints seconds, and communication time as in the paper:
 * seconds minus the work divided by the processors.
 *
 * With --strategies all of them are compared in one run: each for MS milliseconds a round, each
 * round in another order, so that all see the machine in the same state. TTL is then found
 * for each, and one that is many times slower than the best takes part in the first round only. */
#define _GNU_SOURCE
#include <headway/endpoint.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { tag_token = 1, tag_home = 2, tag_end = 3, tag_turn = 4 };
enum { threads_max = 64, token_bytes = 256, strategies_max = 32, rounds_max = 200 };

struct token {
  uint32_t seed;
  uint32_t ttl;
  char rest[token_bytes - 8];
};

/* The dispatch policy, and the number of calls of `headway_endpoint_dispatch` in a token's work. */
struct strategy {
  char name[24];
  int policy, polls;
  int ttl;
  double hop_us[rounds_max];
  int count; /* rounds it took part in */
};

static const char* csv;
static int threads = 1, tokens = 32, ttl = 1000, work = 0, rounds = 15, turn_ms = 8;
static const double level_s = 145e-6; /* of computing, for one level of work */
static long turns_a_level;
static _Atomic int polls; /* read by the threads between two rounds, or while it stays the same */
static struct strategy strategies[strategies_max];
static int strategy_count;
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

/* Work is a number of turns of a loop and reads no clock: cut into parts it stays as long. */
static void compute(long turns) {
  for (volatile long i = 0; i < turns; ++i) {
  }
}

/* Turns that take one work level on this processor: the quickest of several runs, by the thread's
 * own time, so that a processor shared with others does not change it. */
static void measure_work(void) {
  enum { runs = 20, turns = 200000 };
  double quickest = 1e9;
  for (int i = 0; i < runs; ++i) {
    struct timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    compute(turns);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    const double took =
        (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
    if (took < quickest) quickest = took;
  }
  turns_a_level = (long)(turns * level_s / quickest);
}

static void be_busy(void) {
  const long whole = work * turns_a_level;
  const int looks = polls;
  if (looks == 0) compute(whole);
  for (int i = 0; i < looks; ++i) {
    compute(whole / looks);
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
    if (got.tag == tag_turn) { /* one thread of each process: what comes now is done so */
      const struct strategy* next = got.data;
      check(headway_endpoint_dispatch_policy(next->policy));
      polls = next->polls;
      check(headway_endpoint_send(mine, got.from, tag_turn, got.data, got.bytes, HEADWAY_FOREVER));
      continue;
    }
    struct token* t = got.data;
    be_busy();
    const int over = --t->ttl == 0;
    check(headway_endpoint_send(mine, over ? producer : all[next_of(t)],
                                over ? tag_home : tag_token, t, got.bytes, HEADWAY_FOREVER));
  }
}

/* Sends them all on their way, and waits until they are back: seconds. */
static double tokens_travel(headway_endpoint mine, int hops) {
  const double began = now();
  for (int i = 0; i < tokens; ++i) {
    struct token* t;
    check(headway_buffer_request(sizeof *t, (void**)&t));
    memset(t, 0, sizeof *t);
    t->seed = (uint32_t)i * 7919u + 1;
    t->ttl = (uint32_t)hops;
    check(headway_endpoint_send(mine, all[next_of(t)], tag_token, t, sizeof *t, HEADWAY_FOREVER));
  }
  for (int i = 0; i < tokens; ++i) {
    headway_message got;
    check(headway_endpoint_receive(mine, tag_home, NULL, HEADWAY_FOREVER, &got));
    check(headway_buffer_release(got.data));
  }
  return now() - began;
}

static void one_run(headway_endpoint mine) {
  const double took = tokens_travel(mine, ttl);
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  const long useful = all_count < processors ? all_count : processors;
  const double computing = tokens * (double)ttl * work * level_s / (double)useful;
  if (csv) {
    FILE* file = fopen(csv, "w");
    if (file) {
      fprintf(file, "seconds,communication_s,hop_us\n%.6f,%.6f,%.4f\n", took, took - computing,
              took / tokens / ttl * 1e6);
      fclose(file);
    }
  }
  printf("%.6f s, communication %.6f s, %.3f us a hop\n", took, took - computing,
         took / tokens / ttl * 1e6);
}

/* ---- many strategies in turns ---- */

static void change_to(headway_endpoint mine, const struct strategy* next) {
  check(headway_endpoint_dispatch_policy(next->policy));
  for (int i = 0; i < all_count; i += threads)
    check(headway_endpoint_send_copy(mine, all[i], tag_turn, next, sizeof *next, HEADWAY_FOREVER));
  for (int i = 0; i < all_count; i += threads) {
    headway_message got;
    check(headway_endpoint_receive(mine, tag_turn, NULL, HEADWAY_FOREVER, &got));
    check(headway_buffer_release(got.data));
  }
}

static double hop_us(headway_endpoint mine, int hops) {
  return tokens_travel(mine, hops) / tokens / hops * 1e6;
}

/* The quickest of some short runs; one run if that is far from the best so far. */
static double about_hop_us(headway_endpoint mine, double best) {
  enum { runs = 3, hops = 4, hopeless = 30 };
  double quickest = hop_us(mine, 1);
  for (int i = 0; i < runs && quickest < hopeless * best; ++i) {
    const double next = hop_us(mine, hops);
    if (next < quickest) quickest = next;
  }
  return quickest;
}

/* TTL of each: so that a turn takes about as long as it should. The best: us a hop. */
static double find_lengths(headway_endpoint mine, double* each) {
  const double turn_us = turn_ms * 1e3;
  double best = 1e9;
  for (int i = 0; i < strategy_count; ++i) {
    change_to(mine, &strategies[i]);
    each[i] = about_hop_us(mine, best);
    if (each[i] < best) best = each[i];
  }
  for (int i = 0; i < strategy_count; ++i) {
    const double hops = turn_us / tokens / (each[i] < 3 * best ? best : each[i]);
    strategies[i].ttl = hops < 2 ? 2 : hops > 60.0 * turn_ms ? 60 * turn_ms : (int)hops;
  }
  return best;
}

/* Each strategy behind every other one now and then: what a turn leaves behind is in the next. */
static void shuffle(int* order, int count) {
  static uint64_t seed = 1;
  for (int i = count - 1; i > 0; --i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const int other = (int)((seed >> 33) % (uint64_t)(i + 1)), kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
}

static void compare(headway_endpoint mine) {
  enum { far_off = 20 };
  double each[strategies_max];
  int order[strategies_max];
  for (int i = 0; i < strategy_count; ++i) order[i] = i;
  const double best = find_lengths(mine, each);
  for (int round = 0; round < rounds; ++round) {
    shuffle(order, strategy_count);
    for (int turn = 0; turn < strategy_count; ++turn) {
      const int i = order[turn];
      struct strategy* s = &strategies[i];
      if (round > 0 && each[i] > far_off * best) continue;
      change_to(mine, s);
      if (round > 0) (void)hop_us(mine, 1 + s->ttl / 8); /* until it has settled */
      s->hop_us[s->count++] = hop_us(mine, s->ttl);
    }
  }
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* A row a round, a column a strategy. */
static void show_all(void) {
  FILE* file = csv ? fopen(csv, "w") : NULL;
  if (file) fprintf(file, "turn");
  for (int i = 0; file && i < strategy_count; ++i) fprintf(file, ",%s", strategies[i].name);
  for (int round = 0; file && round < rounds; ++round) {
    fprintf(file, "\n%d", round);
    for (int i = 0; i < strategy_count; ++i) {
      fputc(',', file);
      if (round < strategies[i].count) fprintf(file, "%.4f", strategies[i].hop_us[round]);
    }
  }
  if (file) {
    fputc('\n', file);
    fclose(file);
  }
  for (int i = 0; i < strategy_count; ++i) {
    struct strategy* s = &strategies[i];
    qsort(s->hop_us, (size_t)s->count, sizeof *s->hop_us, by_value);
    printf("%-12s %10.3f us a hop (%.3f ... %.3f), %d rounds of %d hops\n", s->name,
           s->hop_us[s->count / 2], s->hop_us[0], s->hop_us[s->count - 1], s->count,
           tokens * s->ttl);
  }
}

static void produce(headway_endpoint mine) {
  if (strategy_count == 0) {
    one_run(mine);
  } else {
    compare(mine);
    show_all();
  }
  for (int i = 0; i < all_count; ++i)
    check(headway_endpoint_send(mine, all[i], tag_end, NULL, 0, HEADWAY_FOREVER));
}

static int policy_of(const char* name) {
  static const char* const names[] = {"auto", "pause", "yield", "loop", "event"};
  for (int i = 0; i < 5; ++i)
    if (strcmp(name, names[i]) == 0) return i;
  fprintf(stderr, "tokens: no policy %s\n", name);
  exit(2);
}

static void read_strategies(char* list) {
  for (char* word = strtok(list, ","); word && strategy_count < strategies_max;
       word = strtok(NULL, ",")) {
    struct strategy* s = &strategies[strategy_count++];
    snprintf(s->name, sizeof s->name, "%s", word);
    char* looks = strchr(word, '/');
    if (looks) *looks++ = '\0';
    s->policy = policy_of(word);
    s->polls = looks ? atoi(looks) : 0;
  }
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
    char* value = argv[i + 1];
    if (strcmp(argv[i], "--threads") == 0) threads = atoi(value);
    if (strcmp(argv[i], "--work") == 0) work = atoi(value);
    if (strcmp(argv[i], "--tokens") == 0) tokens = atoi(value);
    if (strcmp(argv[i], "--ttl") == 0) ttl = atoi(value);
    if (strcmp(argv[i], "--polls") == 0) polls = atoi(value);
    if (strcmp(argv[i], "--rounds") == 0) rounds = atoi(value);
    if (strcmp(argv[i], "--turn-ms") == 0) turn_ms = atoi(value);
    if (strcmp(argv[i], "--strategies") == 0) read_strategies(value);
    if (strcmp(argv[i], "--csv") == 0) csv = value;
    if (strcmp(argv[i], "--policy") == 0) policy = policy_of(value);
  }
  measure_work();
  check(headway_join());
  const int me = headway_process(), n = headway_process_count();
  if (threads < 1 || threads > threads_max || (n > 1 ? n - 1 : 1) * threads > 1024) return 2;
  if (rounds < 1 || rounds > rounds_max || turn_ms < 1 || ttl < 1 || tokens < 1) return 2;
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
