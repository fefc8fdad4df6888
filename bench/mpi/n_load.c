/// Ping-pong of a large message beside N computing threads on each side (pioman15, figure 12).
/// The worst time says how long a message may starve; with --pin the computing threads share the
/// core of their rank. The first 0.3 s, in which the kernel and the library adapt to the threads,
/// are not counted, unless the number of messages is given.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bench.h"

enum { last_message = 1 };  ///< in the first byte of the message that ends the row

static const double settling = 0.3;  ///< seconds after the threads' start that are not counted

static atomic_bool stop;  ///< set by the main thread, read by the computing ones; carries no data

static void* compute(void* unused) {
  (void)unused;
  while (!atomic_load_explicit(&stop, memory_order_relaxed)) work(100);
  return NULL;
}

static void ask(struct bench* b, char* memory, size_t bytes, int threads) {
  struct samples samples = {0};
  const long most = b->iterations > 0 ? (long)b->iterations : samples_max;
  const uint64_t first = now_ns() + (uint64_t)(settling * 1e9);
  const uint64_t end = first + (uint64_t)(b->seconds * 1e9);
  for (bool more = true; more;) {
    const uint64_t start = now_ns();
    more = (long)samples.count + 1 < most && (b->iterations > 0 || start < end);
    memory[0] = more ? 0 : last_message;
    MPI_Send(memory, (int)bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(memory, (int)bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (b->iterations > 0 || start >= first)
      samples_add(&samples, (double)(now_ns() - start) / 2000);
  }
  const double count = (double)samples.count;
  const struct summary s = summarise(&samples);
  samples_free(&samples);
  table_row(&b->table, NULL, (double[]){threads, s.mean, s.median, s.best, s.worst, count});
}

static void answer(char* memory, size_t bytes) {
  do {
    MPI_Recv(memory, (int)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(memory, (int)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  } while (memory[0] != last_message);
}

static void measure(struct bench* b, int threads, size_t bytes) {
  char* memory = buffer(bytes);
  pthread_t* handles = calloc((size_t)threads + 1, sizeof *handles);
  if (handles == NULL) abort();
  MPI_Barrier(MPI_COMM_WORLD);
  atomic_store_explicit(&stop, false, memory_order_relaxed);
  for (int i = 0; i < threads; ++i)
    if (pthread_create(&handles[i], NULL, compute, NULL) != 0) abort();
  if (b->rank == 0) ask(b, memory, bytes, threads);
  else answer(memory, bytes);
  atomic_store_explicit(&stop, true, memory_order_relaxed);
  for (int i = 0; i < threads; ++i) pthread_join(handles[i], NULL);
  free(handles);
  free(memory);
}

int main(int argc, char** argv) {
  struct bench b = {.name = "n_load",
                    .about = "n_load: ping-pong of a large message beside N computing threads.",
                    .thread_level = MPI_THREAD_MULTIPLE,
                    .ranks = 2,
                    .seconds = 2};
  struct list threads = {.count = 0};
  list_read(&threads, "0,1,4,16");
  double bytes = 1 << 20;
  const struct option own[] = {{"--threads", option_list, &threads, "computing threads a side"},
                               {"--bytes", option_number, &bytes, "bytes of the message"},
                               {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  const struct column columns[] = {{"threads", 0}, {"mean_us", 1},  {"median_us", 1},
                                   {"best_us", 1}, {"worst_us", 1}, {"exchanges", 0}};
  bench_table(&b, NULL, columns, 6);
  for (int i = 0; i < threads.count; ++i)
    measure(&b, (int)threads.value[i], bytes < 1 ? 1 : (size_t)bytes);
  return bench_finish(&b);
}
