/// All ranks take the exclusive lock of rank 0's window, put 8 bytes and release it, for the same
/// time: the time for one lock, and how evenly the ranks get it.
#include <stdlib.h>

#include "bench.h"

int main(int argc, char** argv) {
  struct bench b = {.name = "contended_lock",
                    .about = "contended_lock: all ranks lock rank 0 of a window, again and again.",
                    .thread_level = MPI_THREAD_SINGLE,
                    .seconds = 0.5};
  const struct option own[] = {{NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  MPI_Win win;
  long long *base = NULL, mine = 0, locks = 0;
  MPI_Win_allocate(sizeof *base, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  const struct column columns[] = {
      {"ranks", 0}, {"us_per_lock", 3}, {"slowest_share", 2}, {"locks", 0}};
  bench_table(&b, NULL, columns, 4);
  starting_line(&b);
  const uint64_t start = now_ns(), end = start + (uint64_t)(b.seconds * 1e9);
  for (; now_ns() < end; ++locks) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Put(&mine, sizeof mine, MPI_BYTE, 0, 0, sizeof mine, MPI_BYTE, win);
    MPI_Win_unlock(0, win);
  }
  const double took_us = largest((double)(now_ns() - start) / 1000);
  long long all = 0, least = 0;
  MPI_Allreduce(&locks, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&locks, &least, 1, MPI_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
  const double mean = (double)all / b.size;
  table_row(&b.table, NULL,
            (double[]){b.size, took_us / (double)all, (double)least / mean, (double)all});
  MPI_Win_free(&win);
  return bench_finish(&b);
}
