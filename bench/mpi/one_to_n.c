/// One sending thread, N receiving threads, a tag for each: one-way time by N (pioman15, figure
/// 10). The sender plays ping-pong with the receivers in turn; the others wait in MPI_Recv
/// meanwhile.
#include <stdlib.h>

#include "bench.h"

enum { last_message = 1 };  ///< in the first byte of the message that ends the row

struct receiver {
  int tag;
  size_t bytes;
};

static void* answer(void* argument) {
  const struct receiver* r = argument;
  char* memory = buffer(r->bytes);
  do {
    MPI_Recv(memory, (int)r->bytes, MPI_BYTE, 0, r->tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(memory, (int)r->bytes, MPI_BYTE, 0, r->tag, MPI_COMM_WORLD);
  } while (memory[0] != last_message);
  free(memory);
  return NULL;
}

static void ask(char* memory, size_t bytes, int tag) {
  MPI_Send(memory, (int)bytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
  MPI_Recv(memory, (int)bytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_in_turn(struct bench* b, int threads, size_t bytes) {
  char* memory = buffer(bytes);
  struct samples samples = {0};
  for (int tag = 0; tag < threads; ++tag) ask(memory, bytes, tag);  // Now all threads run.
  const uint64_t end = now_ns() + (uint64_t)(b->seconds * 1e9);
  const long least = threads < 16 ? threads : 16;  // Fewer could all be good by chance.
  const long most = b->iterations > 0 ? (long)b->iterations : samples_max;
  for (int tag = 0; (long)samples.count < most; tag = (tag + 1) % threads) {
    const uint64_t start = now_ns();
    if (b->iterations == 0 && start > end && (long)samples.count >= least) break;
    ask(memory, bytes, tag);
    samples_add(&samples, (double)(now_ns() - start) / 2000);
  }
  memory[0] = last_message;
  for (int tag = 0; tag < threads; ++tag) ask(memory, bytes, tag);
  const double count = (double)samples.count;
  const struct summary s = summarise(&samples);
  table_row(&b->table, NULL, (double[]){threads, s.mean, s.median, s.best, s.p99, s.worst, count});
  samples_free(&samples);
  free(memory);
}

static void receive_by_threads(int threads, size_t bytes) {
  struct receiver* receivers = calloc((size_t)threads, sizeof *receivers);
  if (receivers == NULL) abort();
  for (int i = 0; i < threads; ++i) receivers[i] = (struct receiver){i, bytes};
  run_threads(threads, answer, receivers, sizeof *receivers);
  free(receivers);
}

int main(int argc, char** argv) {
  struct bench b = {.name = "one_to_n",
                    .about = "one_to_n: ping-pong of one thread with N threads in turn.",
                    .thread_level = MPI_THREAD_MULTIPLE,
                    .ranks = 2,
                    .seconds = 0.5};
  struct list threads = {.count = 0};
  list_read(&threads, "2,4,8,16,32,64");
  double bytes = 1;
  const struct option own[] = {{"--threads", option_list, &threads, "receiving threads"},
                               {"--bytes", option_number, &bytes, "bytes of a message, at least 1"},
                               {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  const struct column columns[] = {{"threads", 0},  {"mean_us", 2}, {"median_us", 2},
                                   {"best_us", 2},  {"p99_us", 2},  {"worst_us", 1},
                                   {"exchanges", 0}};
  bench_table(&b, NULL, columns, 7);
  const size_t size = bytes < 1 ? 1 : (size_t)bytes;
  for (int i = 0; i < threads.count; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (b.rank == 0) send_in_turn(&b, (int)threads.value[i], size);
    else receive_by_threads((int)threads.value[i], size);
  }
  return bench_finish(&b);
}
