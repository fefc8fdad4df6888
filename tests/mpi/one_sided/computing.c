/* A target that computes, and makes no call for two seconds: what origins begin ends meanwhile. It
   computes no longer when the last operation has written into its memory. */
#include <time.h>

#include "watched.h"
#include "windows.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { BYTES = 1 << 20 };
static const double computes_s = 2.0;
enum { OVER_AT = 16 }; /* a byte that no other operation writes */

static double origin(struct test_window* w, int round) {
  char* data = malloc(BYTES);
  long one = 1, before = -1, zero = 0;
  const double begin = now();
  CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
  memset(data, round, BYTES);
  CHECK_OK(
      MPI_Put(data, BYTES - 64, MPI_CHAR, 0, displacement(w, 0, 64), BYTES - 64, MPI_CHAR, w->win));
  CHECK_OK(MPI_Win_flush(0, w->win));
  memset(data, 0, BYTES);
  CHECK_OK(
      MPI_Get(data, BYTES - 64, MPI_CHAR, 0, displacement(w, 0, 64), BYTES - 64, MPI_CHAR, w->win));
  CHECK_OK(MPI_Win_flush(0, w->win));
  CHECK(data[0] == round && data[BYTES - 65] == round, "%d %d", data[0], data[BYTES - 65]);
  CHECK_OK(MPI_Win_unlock(0, w->win));
  CHECK_OK(MPI_Win_lock_all(0, w->win));
  CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, displacement(w, 0, 0), MPI_SUM, w->win));
  CHECK_OK(MPI_Win_flush(0, w->win));
  CHECK(before == round, "%ld", before);
  CHECK_OK(MPI_Compare_and_swap(&one, &one, &before, MPI_LONG, 0, displacement(w, 0, 8), w->win));
  CHECK_OK(MPI_Win_flush(0, w->win));
  CHECK(before == zero, "%ld", before);
  CHECK_OK(MPI_Win_unlock_all(w->win));
  free(data);
  return now() - begin;
}

static void tell_that_it_is_over(struct test_window* w) {
  const char one = 1;
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
  CHECK_OK(MPI_Put(&one, 1, MPI_CHAR, 0, displacement(w, 0, OVER_AT), 1, MPI_CHAR, w->win));
  CHECK_OK(MPI_Win_unlock(0, w->win));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  for (int f = 0; f < FLAVORS; ++f) {
    struct test_window w = open_window((enum flavor)f, BYTES, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
      volatile double sum = 0;
      const char* const over = w.base + OVER_AT;
      for (const double end = now() + computes_s; now() < end && !watched_char(over);)
        for (int i = 0; i < 10000; ++i) sum += i;
    } else if (check_rank == 1) {
      double longest = 0;
      for (int round = 0; round < 3; ++round) {
        const double took = origin(&w, round);
        if (took > longest) longest = took;
      }
      tell_that_it_is_over(&w);
      CHECK(longest < computes_s / 2, "%s: %.3f s", flavor_names[f], longest);
    }
    close_window(&w);
  }
  return check_end("one_sided beside a computing target");
}
