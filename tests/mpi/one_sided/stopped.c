/* The target's only thread of the program is stopped, as a debugger stops it, while it computes or
 * sleeps in the kernel: what the origin begins ends meanwhile. Rank 1 is the origin, and stops
 * rank 0. */
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "watched.h"
#include "windows.h"

enum { BYTES = 1 << 18, OVER_AT = 16 /* a byte that only `tell_that_it_is_over` writes */ };
enum state { COMPUTES, SLEEPS, STATES };
static const char* const state_names[] = {"computes", "sleeps"};

static void be_a_target(struct test_window* w, enum state s) {
  const char* const over = w->base + OVER_AT;
  if (s == COMPUTES)
    while (!watched_char(over)) continue;
  if (s == SLEEPS)
    while (!watched_char(over)) usleep(1000);
}

static void operate(struct test_window* w, char* data) {
  long one = 1, before = -1;
  CHECK_OK(MPI_Win_lock_all(0, w->win));
  for (int round = 0; round < 20; ++round) {
    memset(data, round, BYTES);
    CHECK_OK(MPI_Put(data, BYTES - 64, MPI_CHAR, 0, displacement(w, 0, 64), BYTES - 64, MPI_CHAR,
                     w->win));
    CHECK_OK(MPI_Win_flush(0, w->win));
    memset(data, -1, BYTES);
    CHECK_OK(MPI_Get(data, BYTES - 64, MPI_CHAR, 0, displacement(w, 0, 64), BYTES - 64, MPI_CHAR,
                     w->win));
    CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, displacement(w, 0, 0), MPI_SUM, w->win));
    CHECK_OK(MPI_Win_flush(0, w->win));
    CHECK(data[0] == round && data[BYTES - 65] == round, "%d %d", data[0], data[BYTES - 65]);
    CHECK(before == round, "%ld", before);
  }
  CHECK_OK(MPI_Win_unlock_all(w->win));
}

static void tell_that_it_is_over(struct test_window* w) {
  const char one = 1;
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
  CHECK_OK(MPI_Put(&one, 1, MPI_CHAR, 0, displacement(w, 0, OVER_AT), 1, MPI_CHAR, w->win));
  CHECK_OK(MPI_Win_unlock(0, w->win));
}

/* False: the kernel does not let this process do that. */
static int stop(pid_t thread) {
  int status;
  if (ptrace(PTRACE_SEIZE, thread, 0, 0) != 0) return 0;
  return ptrace(PTRACE_INTERRUPT, thread, 0, 0) == 0 &&
         waitpid(thread, &status, __WALL) == thread && WIFSTOPPED(status);
}

static void be_an_origin(struct test_window* w, enum state s, pid_t target) {
  char* const data = malloc(BYTES);
  usleep(50000); /* it is in its state by then, or stops a little earlier */
  const int stops = stop(target);
  if (!stops) printf("%s: not stopped: %s\n", state_names[s], strerror(errno));
  operate(w, data);
  if (stops) CHECK(ptrace(PTRACE_DETACH, target, 0, 0) == 0, "%s", strerror(errno));
  tell_that_it_is_over(w);
  free(data);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  int process = (int)getpid();
  MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int f = 0; f < FLAVORS; ++f)
    for (int s = 0; s < STATES; ++s) {
      struct test_window w = open_window((enum flavor)f, BYTES, 1);
      if (check_rank == 0) be_a_target(&w, (enum state)s);
      if (check_rank == 1) be_an_origin(&w, (enum state)s, (pid_t)process);
      close_window(&w);
    }
  return check_end("one_sided on a stopped target");
}
