/* One contract for all flavours: each function here, in C11, tests one promise of
 * headway/progress.h. Only the way to make a second thread differs: a pthread, a fiber, or none. */
#ifndef TESTS_PROGRESS_CONTRACT_H
#define TESTS_PROGRESS_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headway/progress.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct flavour {
  const char* name;
  /* Starts `body(argument)` in a thread of this flavour; NULL: there is one thread only. */
  void* (*spawn)(void (*body)(void*), void* argument);
  void (*join)(void* thread);
  /* Lets other threads run for about so long. */
  void (*pause_us)(unsigned microseconds);
} flavour;

/* Runs them all; the number of broken promises. */
int run_contract(const flavour* of);

void check(bool holds, const char* text, const char* file, int line);
#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)

#define MILLISECOND UINT64_C(1000000)
#define PATIENCE (20 * UINT64_C(1000) * MILLISECOND)

/* An ltask that counts its runs and ends after `runs_wanted`. */
typedef struct counter {
  headway_ltask task;
  int runs;
  int runs_wanted;
  headway_ltask_result otherwise; /* before that */
} counter;
void counter_init(counter* c, headway_ltask_kind kind, int runs_wanted);
headway_ltask_result counter_run(headway_ltask* self, void* argument);

void check_ltasks(const flavour* of);
void check_waits(const flavour* of);
void check_misuse(const flavour* of);
void check_points(const flavour* of);

#ifdef __cplusplus
}
#endif

#endif
