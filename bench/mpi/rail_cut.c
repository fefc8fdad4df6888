/// Time of a large message during which one rail is cut, and of the same message without a cut.
/// Rank 0 cuts the rail in its network namespace by `ip link set DEVICE down`, and sets it up again
/// before the next message. Needs root.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

enum { tag_data = 1, tag_answer = 2, pause_ms = 1500, command_max = 128 };

struct cut {
  const char* device;
  double after_ms;
};

static void nap(double ms) {
  const struct timespec t = {.tv_sec = (time_t)(ms / 1e3),
                             .tv_nsec = (long)(ms * 1e6) % 1000000000};
  nanosleep(&t, NULL);
}

static void set_device(const char* device, const char* state) {
  char command[command_max];
  snprintf(command, sizeof command, "ip link set dev %s %s", device, state);
  if (system(command) != 0) fprintf(stderr, "rail_cut: '%s' failed\n", command);
}

static void* pull(void* argument) {
  const struct cut* c = argument;
  nap(c->after_ms);
  set_device(c->device, "down");
  return NULL;
}

/// Milliseconds from the start of the message until the receiver's answer.
static double once(const struct bench* b, char* memory, size_t bytes) {
  starting_line(b);
  const uint64_t start = now_ns();
  if (b->rank == 0) {
    MPI_Send(memory, (int)bytes, MPI_BYTE, 1, tag_data, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, 1, tag_answer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(memory, (int)bytes, MPI_BYTE, 0, tag_data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, 0, tag_answer, MPI_COMM_WORLD);
  }
  return (double)(now_ns() - start) * 1e-6;
}

int main(int argc, char** argv) {
  struct bench b = {.name = "rail_cut",
                    .about = "rail_cut: a large message, and a rail cut in the middle of it.",
                    .thread_level = MPI_THREAD_FUNNELED,
                    .ranks = 2,
                    .seconds = 0.5};
  const char* device = NULL;
  double bytes = 64 << 20, times = 3;
  const struct option own[] = {
      {"--device", option_text, &device, "the interface to cut; without it nothing is cut"},
      {"--bytes", option_number, &bytes, "bytes of the message"},
      {"--times", option_number, &times, "messages, each with a cut"},
      {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  const struct column columns[] = {
      {"message_bytes", 0}, {"sound_ms", 1}, {"cut_at_ms", 1}, {"cut_ms", 1}};
  bench_table(&b, NULL, columns, 4);
  char* memory = buffer((size_t)bytes);
  once(&b, memory, (size_t)bytes);  // opens connections, measures the rails
  for (int i = 0; i < (int)times; ++i) {
    const double sound = largest(once(&b, memory, (size_t)bytes));
    struct cut c = {.device = device, .after_ms = sound / 2};
    pthread_t puller;
    const bool cuts = device != NULL && b.rank == 0;
    if (cuts && pthread_create(&puller, NULL, pull, &c) != 0) abort();
    const double cut = largest(once(&b, memory, (size_t)bytes));
    if (cuts) {
      pthread_join(puller, NULL);
      set_device(device, "up");
    }
    if (device != NULL) nap(pause_ms);  // until the rail is in use again
    table_row(&b.table, NULL, (double[]){bytes, sound, c.after_ms, cut});
  }
  free(memory);
  return bench_finish(&b);
}
