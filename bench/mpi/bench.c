#define _GNU_SOURCE
#include "bench.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The rank from the launcher's environment, before MPI starts; -1: no known variable.
static int launched_rank(void) {
  static const char* const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                      "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    const char* value = getenv(names[i]);
    if (value != NULL) return atoi(value);
  }
  return -1;
}

/// Whether every rank runs under the same kernel, hence reads the same CLOCK_MONOTONIC.
static bool ranks_share_a_clock(void) {
  unsigned char id[37] = {0};
  FILE* file = fopen("/proc/sys/kernel/random/boot_id", "r");
  if (file != NULL) {
    if (fread(id, 1, 36, file) != 36) memset(id, 0, sizeof id);
    fclose(file);
  }
  unsigned char first[37];
  memcpy(first, id, sizeof id);
  MPI_Bcast(first, sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
  int same = id[0] != 0 && memcmp(first, id, sizeof id) == 0;
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return same != 0;
}

void bench_refuse(const struct bench* b, const char* message) {
  if (b->rank == 0) fprintf(stderr, "%s: %s\n", b->name, message);
  MPI_Finalize();
  exit(3);
}

void bench_start(struct bench* b, const struct option* own, int argc, char** argv) {
  const struct option common[] = {
      {"--iterations", option_number, &b->iterations, "repetitions of each row; 0: by time"},
      {"--seconds", option_number, &b->seconds, "time to aim at for each row"},
      {"--csv", option_text, &b->csv, "also write the table to this file"},
      {"--pin", option_flag, &b->pin, "bind rank i to usable core i"},
      {"--multiple", option_flag, &b->multiple, "start MPI with MPI_THREAD_MULTIPLE"},
      {NULL, option_flag, NULL, NULL}};
  options_read(b->about, common, own, argc, argv);
  // Before MPI starts, so that the library's threads inherit the binding, as with a launcher's.
  const int early = launched_rank();
  if (b->pin && early >= 0) pin_to_core(early);
  if (b->multiple) b->thread_level = MPI_THREAD_MULTIPLE;
  int granted = 0;
  MPI_Init_thread(&argc, &argv, b->thread_level, &granted);
  MPI_Comm_rank(MPI_COMM_WORLD, &b->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &b->size);
  if (b->pin) pin_to_core(b->rank);
  if (granted < b->thread_level)
    bench_refuse(b, "the library does not grant the thread level needed");
  if (b->ranks != 0 && b->size != b->ranks)
    bench_refuse(b, "runs on exactly two ranks: mpiexec -n 2");
  b->one_clock = ranks_share_a_clock();
}

void bench_table(struct bench* b, const char* label, const struct column* columns, int count) {
  table_open(&b->table, label, columns, count, b->rank != 0);
}

int bench_finish(struct bench* b) {
  const bool written = table_close(&b->table, b->csv);
  MPI_Finalize();
  return written ? 0 : 1;
}

long bench_repeat(const struct bench* b, double one_ns, long least, long most) {
  long count = (long)b->iterations;
  if (count == 0) {
    const double fitting = b->seconds * 1e9 / (one_ns > 1 ? one_ns : 1);
    count = fitting<(double)least ? least : fitting>(double) most ? most : (long)fitting;
  }
  MPI_Bcast(&count, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  return count;
}

bool bench_goes_on(const struct bench* b, long done, long count, uint64_t start_ns) {
  const long least = 3;
  int more = done < count;
  const double late_ns = 5e9 * (b->seconds > 0.2 ? b->seconds : 0.2);
  if (b->iterations == 0 && done >= least && (double)(now_ns() - start_ns) > late_ns) more = 0;
  MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return more != 0;
}

void starting_line(const struct bench* b) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (!b->one_clock) return;
  const uint64_t notice_ns = 200000;
  uint64_t start = now_ns() + notice_ns;
  MPI_Allreduce(MPI_IN_PLACE, &start, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  while (now_ns() < start) {
  }
}

double largest(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return value;
}

void* buffer(size_t bytes) {
  const size_t page = 4096;
  const size_t whole = (bytes / page + 1) * page;
  void* memory = aligned_alloc(page, whole);
  if (memory == NULL) {
    perror("buffer");
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
  }
  memset(memory, 0x5a, whole);
  return memory;
}

void run_threads(int count, void* (*body)(void*), void* arguments, size_t stride) {
  pthread_t* threads = calloc((size_t)count, sizeof *threads);
  if (threads == NULL) abort();
  for (int i = 0; i < count; ++i) {
    const int fault =
        pthread_create(&threads[i], NULL, body, (char*)arguments + (size_t)i * stride);
    if (fault != 0) {
      fprintf(stderr, "thread %d: %s\n", i, strerror(fault));
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  free(threads);
}
