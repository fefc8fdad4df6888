/// Processor seconds of a process that is blocked in MPI_Recv. Rank 0 sleeps in the kernel and then
/// sends one byte, for which rank 1 waits meanwhile.
#define _GNU_SOURCE
#include <time.h>

#include "bench.h"

enum { tag_byte = 1, tag_report = 2 };

int main(int argc, char** argv) {
  struct bench b = {.name = "recv_cpu",
                    .about =
                        "recv_cpu: processor time of a rank that waits in MPI_Recv\n"
                        "for --seconds.",
                    .thread_level = MPI_THREAD_SINGLE,
                    .ranks = 2,
                    .seconds = 10};
  const struct option own[] = {{NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  const struct column columns[] = {
      {"waited_s", 3}, {"processor_s", 4}, {"share_pct", 2}, {"sleeper_s", 4}};
  bench_table(&b, NULL, columns, 4);
  MPI_Barrier(MPI_COMM_WORLD);
  const double used = processor_seconds();
  const uint64_t start = now_ns();
  char byte = 0;
  if (b.rank == 0) {
    const struct timespec pause = {.tv_sec = (time_t)b.seconds,
                                   .tv_nsec = (long)((b.seconds - (long)b.seconds) * 1e9)};
    nanosleep(&pause, NULL);
    MPI_Send(&byte, 1, MPI_BYTE, 1, tag_byte, MPI_COMM_WORLD);
    const double sleeper = processor_seconds() - used;
    double report[2];
    MPI_Recv(report, 2, MPI_DOUBLE, 1, tag_report, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    table_row(&b.table, NULL,
              (double[]){report[0], report[1], 100 * report[1] / report[0], sleeper});
  } else {
    MPI_Recv(&byte, 1, MPI_BYTE, 0, tag_byte, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double waited = (double)(now_ns() - start) * 1e-9;
    const double report[2] = {waited, processor_seconds() - used};
    MPI_Send(report, 2, MPI_DOUBLE, 0, tag_report, MPI_COMM_WORLD);
  }
  return bench_finish(&b);
}
