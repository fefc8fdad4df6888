/// What a measurement needs besides MPI: time, statistics, a computation, pinning.
/// Neither this header nor measure.c includes mpi.h, so that cache_line.c builds without MPI.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Monotonic time in nanoseconds. About 20 ns a call; any thread.
uint64_t now_ns(void);

/// The samples of one row, in any unit. Shape: at most `samples_max`, later ones are dropped.
enum { samples_max = 1 << 20 };
struct samples {
  double* value;
  size_t count;
  size_t capacity;
};
void samples_add(struct samples* s, double value);
void samples_free(struct samples* s);

struct summary {
  double best, median, mean, p99, worst;
};
/// Sorts the samples in place. All fields are 0 when there are none.
struct summary summarise(struct samples* s);

/// The median; frees the samples.
double median_of(struct samples* s);

/// Computes `units` quanta of arithmetic that the compiler cannot remove. Registers only: no memory
/// traffic, no system call, no clock, so that interrupts and time slices of other threads make it
/// longer and are thus measured (thread-or-not08).
void work(uint64_t units);

/// How many units of `work` an undisturbed core does in a microsecond: the best of many trials.
double work_units_per_us(void);

/// How many cores this process may use, without regard to its present binding.
int usable_cores(void);

/// Binds the calling thread to the `index`-th usable core, modulo their number.
/// Errors: false where the system refuses; the thread then stays where it was.
bool pin_to_core(int index);

/// Asks the kernel for short time slices for the calling thread, so that it runs soon when it is
/// woken (Linux 6.12; without effect before). Prints an error if the kernel refuses.
void ask_short_slices(void);

/// Processor seconds, user and system, that all threads of this process have used.
double processor_seconds(void);
