/// Small messages per second: T threads a rank, each pair with its own tag, windows of Isend and
/// Irecv, one way. The receiver answers after each window, so that the sender is at most one window
/// ahead.
#include <stdlib.h>

#include "bench.h"

enum { tags_per_thread = 2, last_window = 1 };

struct pair {
  int rank, thread, window;
  size_t bytes;
  MPI_Comm comm;
  uint64_t end_ns;
  double windows_most;
  double windows;  ///< out
};

static void* stream(void* argument) {
  struct pair* p = argument;
  const int data = p->thread * tags_per_thread;
  const int peer = 1 - p->rank;
  char* memory = buffer(p->bytes * (size_t)p->window);
  MPI_Request* requests = calloc((size_t)p->window, sizeof *requests);
  if (requests == NULL) abort();
  for (char end = 0; end != last_window;) {
    for (int i = 0; i < p->window; ++i) {
      char* at = memory + (size_t)i * p->bytes;
      if (p->rank == 0) MPI_Isend(at, (int)p->bytes, MPI_BYTE, peer, data, p->comm, &requests[i]);
      else MPI_Irecv(at, (int)p->bytes, MPI_BYTE, peer, data, p->comm, &requests[i]);
    }
    MPI_Waitall(p->window, requests, MPI_STATUSES_IGNORE);
    p->windows += 1;
    // The receiver decides when to end, because it has received every message that it counts.
    if (p->rank == 1) {
      end = now_ns() > p->end_ns || p->windows >= p->windows_most ? last_window : 0;
      MPI_Send(&end, 1, MPI_BYTE, peer, data + 1, p->comm);
    } else {
      MPI_Recv(&end, 1, MPI_BYTE, peer, data + 1, p->comm, MPI_STATUS_IGNORE);
    }
  }
  free(requests);
  free(memory);
  return NULL;
}

struct shape {
  int threads, window;
  size_t bytes;
  bool own_comms;
};

static void measure(struct bench* b, const struct shape* shape) {
  struct pair* pairs = calloc((size_t)shape->threads, sizeof *pairs);
  if (pairs == NULL) abort();
  for (int i = 0; i < shape->threads; ++i) {
    pairs[i] = (struct pair){.rank = b->rank, .thread = i, .window = shape->window};
    pairs[i].bytes = shape->bytes;
    pairs[i].comm = MPI_COMM_WORLD;
    if (shape->own_comms) MPI_Comm_dup(MPI_COMM_WORLD, &pairs[i].comm);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const uint64_t start = now_ns();
  for (int i = 0; i < shape->threads; ++i) {
    const bool counted = b->iterations > 0;
    pairs[i].end_ns = counted ? UINT64_MAX : start + (uint64_t)(b->seconds * 1e9);
    pairs[i].windows_most = counted ? b->iterations : 1e18;
  }
  run_threads(shape->threads, stream, pairs, sizeof *pairs);
  const double seconds = (double)(now_ns() - start) * 1e-9;
  double windows = 0, slowest = 1e18;
  for (int i = 0; i < shape->threads; ++i) {
    windows += pairs[i].windows;
    if (pairs[i].windows < slowest) slowest = pairs[i].windows;
    if (shape->own_comms) MPI_Comm_free(&pairs[i].comm);
  }
  free(pairs);
  const double rate = windows * shape->window / seconds * 1e-6;
  const double fair = windows > 0 ? slowest * shape->threads / windows : 0;
  table_row(&b->table, NULL, (double[]){shape->threads, rate, rate / shape->threads, fair});
}

int main(int argc, char** argv) {
  struct bench b = {.name = "message_rate",
                    .about =
                        "message_rate: small messages per second, 1 to T threads a rank.\n"
                        "fairness: the slowest thread's rate over the mean rate.",
                    .thread_level = MPI_THREAD_MULTIPLE,
                    .ranks = 2,
                    .seconds = 0.5};
  struct list threads = {.count = 0};
  list_read(&threads, "1,2,4");
  double bytes = 8, window = 64;
  bool own_comms = false;
  const struct option own[] = {
      {"--threads", option_list, &threads, "threads of each rank"},
      {"--bytes", option_number, &bytes, "bytes of a message"},
      {"--window", option_number, &window, "messages in flight for each thread"},
      {"--comms", option_flag, &own_comms, "a communicator for each thread"},
      {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  const struct column columns[] = {
      {"threads", 0}, {"million_per_s", 3}, {"per_thread", 3}, {"fairness", 2}};
  bench_table(&b, NULL, columns, 4);
  for (int i = 0; i < threads.count; ++i) {
    const struct shape shape = {(int)threads.value[i], window < 1 ? 1 : (int)window, (size_t)bytes,
                                own_comms};
    measure(&b, &shape);
  }
  return bench_finish(&b);
}
