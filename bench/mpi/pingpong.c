/// One-way time and bandwidth by message size between two ranks, or between several pairs at once:
/// rank i and rank i + half of all. The time is then that of the slowest rank.
/// With --window W > 1, W messages one way and one empty answer; with --both-ways as well, W
/// messages each way at the same time, and with --sendrecv one each way by MPI_Sendrecv. The time
/// is per message. Each message has a buffer of its own, so that a window of large ones does not
/// stay in the caches; with --one-buffer all sends of a rank use one buffer, and all its receives
/// another. With --work each rank computes before each exchange; that time is subtracted. With
/// --open each rank has a receive open that no message matches, as a program has that posts its
/// receives early.
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

enum { tag_data = 1, tag_answer = 2, tag_never = 3 };

struct exchange {
  int first;  ///< of its pair: it sends first
  int peer, window;
  size_t bytes;
  int both_ways, sendrecv;
  uint64_t work_ns;       ///< before each exchange
  char* memory;           ///< of both directions
  size_t step;            ///< from one message of a window to the next; 0: all in one buffer
  char* received;         ///< of windows both ways: where receives begin
  MPI_Request* requests;  ///< 2 * window
};

static void send_one(char* from, size_t bytes, int peer) {
  MPI_Send(from, (int)bytes, MPI_BYTE, peer, tag_data, MPI_COMM_WORLD);
}

static void receive_one(char* into, size_t bytes, int peer) {
  MPI_Recv(into, (int)bytes, MPI_BYTE, peer, tag_data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void there_and_back(const struct exchange* x) {
  if (x->first) {
    send_one(x->memory, x->bytes, x->peer);
    receive_one(x->memory, x->bytes, x->peer);
  } else {
    receive_one(x->memory, x->bytes, x->peer);
    send_one(x->memory, x->bytes, x->peer);
  }
}

static void window_and_answer(const struct exchange* x) {
  const int peer = x->peer;
  for (int i = 0; i < x->window; ++i) {
    char* at = x->memory + (size_t)i * x->step;
    if (x->first)
      MPI_Isend(at, (int)x->bytes, MPI_BYTE, peer, tag_data, MPI_COMM_WORLD, &x->requests[i]);
    else MPI_Irecv(at, (int)x->bytes, MPI_BYTE, peer, tag_data, MPI_COMM_WORLD, &x->requests[i]);
  }
  MPI_Waitall(x->window, x->requests, MPI_STATUSES_IGNORE);
  if (x->first) MPI_Recv(NULL, 0, MPI_BYTE, peer, tag_answer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else MPI_Send(NULL, 0, MPI_BYTE, peer, tag_answer, MPI_COMM_WORLD);
}

static void windows_both_ways(const struct exchange* x) {
  const int peer = x->peer;
  for (int i = 0; i < x->window; ++i)
    MPI_Irecv(x->received + (size_t)i * x->step, (int)x->bytes, MPI_BYTE, peer, tag_data,
              MPI_COMM_WORLD, &x->requests[i]);
  for (int i = 0; i < x->window; ++i)
    MPI_Isend(x->memory + (size_t)i * x->step, (int)x->bytes, MPI_BYTE, peer, tag_data,
              MPI_COMM_WORLD, &x->requests[x->window + i]);
  MPI_Waitall(2 * x->window, x->requests, MPI_STATUSES_IGNORE);
}

static void at_once(const struct exchange* x) {
  MPI_Sendrecv(x->memory, (int)x->bytes, MPI_BYTE, x->peer, tag_data, x->received, (int)x->bytes,
               MPI_BYTE, x->peer, tag_data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Ends within tens of nanoseconds: quanta of `work` would make one rank wait for the other.
static void compute_for(uint64_t ns) {
  const uint64_t start = now_ns();
  while (now_ns() - start < ns) continue;
}

/// Nanoseconds that `count` exchanges take.
static double timed(const struct exchange* x, long count) {
  const uint64_t start = now_ns();
  for (long i = 0; i < count; ++i) {
    if (x->work_ns != 0) compute_for(x->work_ns);
    if (x->sendrecv) at_once(x);
    else if (x->both_ways) windows_both_ways(x);
    else if (x->window > 1) window_and_answer(x);
    else there_and_back(x);
  }
  return (double)(now_ns() - start) - (double)x->work_ns * (double)count;
}

static void measure(struct bench* b, const struct exchange* x) {
  // Warm-up: connections, caches, and how long one exchange takes, roughly.
  timed(x, 2);
  const long trial = x->bytes < 65536 ? 50 : 2;
  const double one_ns = timed(x, trial) / (double)trial;
  // A sample is at least 5 us long, so that reading the clock stays below half a percent.
  long batch = one_ns < 5000 ? (long)(5000 / (one_ns < 50 ? 50 : one_ns)) + 1 : 1;
  MPI_Bcast(&batch, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  const long rounds = bench_repeat(b, (one_ns + (double)x->work_ns) * (double)batch, 5, 100000);
  const int ways = x->both_ways || x->sendrecv || x->window == 1 ? 2 : 1;
  const int window = x->sendrecv ? 1 : x->window;
  const double messages = ways * window * (double)batch;
  struct samples samples = {0};
  for (long i = 0; i < rounds; ++i) samples_add(&samples, timed(x, batch) / messages / 1000);
  struct summary s = summarise(&samples);
  samples_free(&samples);
  if (b->size > 2) {
    s.median = largest(s.median);
    s.mean = largest(s.mean);
  }
  table_row(
      &b->table, NULL,
      (double[]){(double)x->bytes, s.median, s.mean, s.best, s.p99,
                 s.median > 0 ? (double)x->bytes / s.median : 0, (double)rounds * (double)batch});
}

int main(int argc, char** argv) {
  struct bench b = {
      .name = "pingpong",
      .about =
          "pingpong: one-way time and bandwidth by message size, between rank i and rank "
          "i + half of them.",
      .thread_level = MPI_THREAD_SINGLE,
      .seconds = 0.2};
  struct list sizes = {.count = 0};
  list_read(&sizes, "1,8,64,1K,8K,64K,512K,1M,4M,16M");
  double window = 1, work_us = 0;
  int both_ways = 0, sendrecv = 0, one_buffer = 0, open = 0;
  const struct option own[] = {{"--sizes", option_list, &sizes, "bytes of a message"},
                               {"--window", option_number, &window, "messages in flight, one way"},
                               {"--both-ways", option_flag, &both_ways, "windows each way at once"},
                               {"--sendrecv", option_flag, &sendrecv, "one each way at once"},
                               {"--one-buffer", option_flag, &one_buffer, "for a whole window"},
                               {"--work", option_number, &work_us, "computation before each, us"},
                               {"--open", option_flag, &open, "a receive stays open meanwhile"},
                               {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  if (b.size % 2 != 0) bench_refuse(&b, "runs on an even number of ranks: mpiexec -n 2");
  const int half = b.size / 2;
  const struct column columns[] = {{"bytes", 0},  {"median_us", 3}, {"mean_us", 3},  {"best_us", 3},
                                   {"p99_us", 3}, {"mb_per_s", 1},  {"exchanges", 0}};
  bench_table(&b, NULL, columns, 7);
  MPI_Request opened = MPI_REQUEST_NULL;
  if (open)
    MPI_Irecv(NULL, 0, MPI_BYTE, (b.rank + half) % b.size, tag_never, MPI_COMM_WORLD, &opened);
  for (int i = 0; i < sizes.count; ++i) {
    struct exchange x = {.first = b.rank < half,
                         .peer = (b.rank + half) % b.size,
                         .window = window < 1 ? 1 : (int)window,
                         .both_ways = both_ways,
                         .sendrecv = sendrecv,
                         .work_ns = work_us > 0 ? (uint64_t)(work_us * 1000) : 0};
    x.bytes = sizes.value[i];
    x.step = one_buffer ? 0 : x.bytes;
    const size_t one_way = x.bytes + (size_t)(x.window - 1) * x.step;
    x.memory = buffer(2 * one_way);
    x.received = x.memory + one_way;
    x.requests = calloc(2 * (size_t)x.window, sizeof *x.requests);
    measure(&b, &x);
    free(x.requests);
    free(x.memory);
  }
  if (open) {
    MPI_Cancel(&opened);
    MPI_Wait(&opened, MPI_STATUS_IGNORE);
  }
  return bench_finish(&b);
}
