/// Shared by the MPI benchmarks: start and end, agreement between ranks, a common starting line.
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure.h"
#include "options.h"
#include "table.h"

/// Options that every benchmark takes; set the defaults before `bench_start`.
struct bench {
  const char* name;
  const char* about;
  int thread_level;   ///< what MPI_Init_thread must grant
  int ranks;          ///< the number that is required; 0: any number
  double iterations;  ///< --iterations of each row; 0: as many as fit into `seconds`
  double seconds;     ///< --seconds: time to aim at for one row
  const char* csv;    ///< --csv FILE
  bool pin;           ///< --pin: rank i to usable core i
  bool multiple;      ///< --multiple: MPI_THREAD_MULTIPLE although the benchmark needs less
  int rank, size;     ///< set by bench_start
  bool one_clock;     ///< set by bench_start: all ranks read the same monotonic clock
  struct table table;
};

/// Reads the options, pins, starts MPI.
/// Errors: a wrong option, a wrong number of ranks or a lower thread level end the program with
///         a message.
void bench_start(struct bench* b, const struct option* own, int argc, char** argv);
/// Ends the program on all ranks with exit code 3; rank 0 prints why.
void bench_refuse(const struct bench* b, const char* message);
/// Opens the table; only rank 0 prints.
void bench_table(struct bench* b, const char* label, const struct column* columns, int count);
/// Writes the JSON file and ends MPI. Returns the exit code of the program.
int bench_finish(struct bench* b);

/// How often to repeat what takes `one_ns`, the same on every rank (rank 0's answer counts):
/// --iterations, or what fits into --seconds, within `least` … `most`. Collective.
long bench_repeat(const struct bench* b, double one_ns, long least, long most);

/// Whether a row continues after `done` of at most `count` repetitions: it ends early if the
/// machine is so busy that the row takes many times longer than --seconds. Collective.
bool bench_goes_on(const struct bench* b, long done, long count, uint64_t start_ns);

/// Returns at about the same moment on every rank: after a barrier and, if all ranks read the same
/// clock, at a time that they agree on. Collective.
void starting_line(const struct bench* b);

/// The largest of the ranks' values. Collective.
double largest(double value);

/// Allocates `bytes`, page-aligned and filled with a pattern. Never NULL.
void* buffer(size_t bytes);

/// Runs `count` threads of `body(argument + i * stride)` and waits for all.
void run_threads(int count, void* (*body)(void*), void* arguments, size_t stride);
