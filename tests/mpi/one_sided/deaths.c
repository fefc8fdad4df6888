/* The errors of the other ranks when a rank dies while a window is used.
 *
 *   mpiexec -n RANKS --keep-going mpi_one_sided_deaths STATE
 *
 * Rank 1 kills itself. STATE is what it does then, or what the others do: see `states`. With
 * MPI_ERRORS_RETURN each of the others must get an error of class MPI_ERR_PROC_ABORTED from a call
 * on the window within two seconds. Exit status 0: the rank got that error in time. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { victim = 1, count = 1 << 16 };
static const double limit_seconds = 2, alive_seconds = 0.2;

static int rank, size;
static MPI_Win win;
static double ones[count], taken[count];
static MPI_Group victim_alone, all_others;

static void die(int signal) {
  (void)signal;
  raise(SIGKILL);
}

/* It dies while this function waits, or in what is called next. */
static void die_soon(void) {
  struct itimerval soon = {{0, 0}, {0, (long)(alive_seconds * 1e6)}};
  signal(SIGALRM, die);
  setitimer(ITIMER_REAL, &soon, NULL);
}

static int ignore(void) {
  die_soon();
  while (1) pause();
  return MPI_SUCCESS;
}

static int put_to(int target) {
  return MPI_Put(ones, 100, MPI_DOUBLE, target, 0, 100, MPI_DOUBLE, win);
}

/* ---- what the victim does; each function begins before the others' does, and does not return */

static int post_and_die(void) {
  MPI_Win_post(all_others, 0, win);
  return ignore();
}

static int start_and_die(void) {
  MPI_Win_start(all_others, 0, win);
  put_to(0);
  return ignore();
}

static int lock_and_die(void) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  put_to(0);
  MPI_Win_flush(0, win); /* a lock may be taken with the first operations that leave */
  return ignore();
}

/* Most of this time goes by while the elements are changed. */
static int die_changing(void) {
  die_soon();
  MPI_Win_lock_all(0, win);
  while (1) {
    MPI_Accumulate(ones, count, MPI_DOUBLE, 0, 0, count, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_flush(0, win);
  }
  return MPI_SUCCESS;
}

/* ---- what the others do until a call returns an error */

static int fence(void) {
  const int code = put_to(victim);
  return code ? code : MPI_Win_fence(0, win);
}

static int start(void) {
  int code = MPI_Win_start(victim_alone, 0, win);
  if (!code) code = put_to(victim);
  return code ? code : MPI_Win_complete(win);
}

static int wait_for_complete(void) {
  const int code = MPI_Win_post(victim_alone, 0, win);
  return code ? code : MPI_Win_wait(win);
}

static int test_for_complete(void) {
  int is_over = 0;
  int code = MPI_Win_post(victim_alone, 0, win);
  while (!code && !is_over) code = MPI_Win_test(win, &is_over);
  return code;
}

static int lock(void) {
  const int code = MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  return code ? code : MPI_Win_unlock(0, win);
}

static int unlock_victim(void) {
  int code = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, victim, 0, win);
  if (!code) code = put_to(victim);
  return code ? code : MPI_Win_unlock(victim, win);
}

static int unlock_all(void) {
  int code = MPI_Win_lock_all(0, win);
  if (!code) code = put_to(victim);
  return code ? code : MPI_Win_unlock_all(win);
}

static int flush(void) {
  MPI_Win_lock_all(0, win);
  for (int code;;) {
    if ((code = put_to(victim)) || (code = MPI_Win_flush(victim, win))) return code;
    if ((code = MPI_Get(taken, count, MPI_DOUBLE, victim, 0, count, MPI_DOUBLE, win)) ||
        (code = MPI_Win_flush_all(win)))
      return code;
  }
}

static int change(void) {
  MPI_Win_lock_all(0, win);
  for (int code;;)
    if ((code = MPI_Get_accumulate(ones, count, MPI_DOUBLE, taken, count, MPI_DOUBLE, 0, 0, count,
                                   MPI_DOUBLE, MPI_SUM, win)) ||
        (code = MPI_Win_flush(0, win)))
      return code;
}

static int free_window(void) { return MPI_Win_free(&win); }

static const struct state {
  const char* name;
  int (*of_victim)(void);
  int (*of_others)(void);
} states[] = {
    {"fence", ignore, fence},
    {"start", ignore, start},
    {"complete", post_and_die, start},
    {"wait", start_and_die, wait_for_complete},
    {"test", start_and_die, test_for_complete},
    {"lock", lock_and_die, lock},
    {"unlock", ignore, unlock_victim},
    {"unlock_all", ignore, unlock_all},
    {"flush", ignore, flush},
    {"change", die_changing, change},
    {"free", ignore, free_window},
};

int main(int argc, char** argv) {
  const struct state* tried = NULL;
  double* memory;
  MPI_Group world;
  const int victims[] = {victim};
  for (size_t i = 0; i < sizeof states / sizeof states[0]; ++i)
    if (argc == 2 && strcmp(argv[1], states[i].name) == 0) tried = &states[i];
  if (!tried) return fprintf(stderr, "deaths: no such state\n"), 2;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, victims, &victim_alone);
  MPI_Group_excl(world, 1, victims, &all_others);
  MPI_Win_allocate(sizeof ones, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  for (int i = 0; i < count; ++i) ones[i] = 1;
  MPI_Win_fence(0, win);
  for (int target = 0; target < size; ++target) put_to(target);
  MPI_Win_fence(tried->of_others == fence ? 0 : MPI_MODE_NOSUCCEED, win);
  if (rank == victim) return tried->of_victim();

  if (tried->of_victim == lock_and_die) usleep(100000); /* it has the lock */
  const double began = MPI_Wtime();
  int code = MPI_SUCCESS, error_class = MPI_SUCCESS;
  double took = 0;
  while (!code && took < 2 * limit_seconds) {
    code = tried->of_others();
    took = MPI_Wtime() - began - alive_seconds;
  }
  if (code) MPI_Error_class(code, &error_class);
  const int good = error_class == MPI_ERR_PROC_ABORTED && took < limit_seconds;
  if (!good)
    fprintf(stderr, "deaths: rank %d, %s: error class %d after %.2f s\n", rank, tried->name,
            error_class, took);
  fflush(NULL);
  _exit(!good); /* no MPI_Finalize: it is collective, and one rank is dead */
}
