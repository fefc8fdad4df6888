/* For the tests of one-sided communication: windows of every kind, in the same way. */
#ifndef HEADWAY_TESTS_MPI_ONE_SIDED_WINDOWS_H
#define HEADWAY_TESTS_MPI_ONE_SIDED_WINDOWS_H

#include "check_all.h"

enum flavor { CREATED, ALLOCATED, SHARED, DYNAMIC, FLAVORS };
static const char* const flavor_names[] = {"created", "allocated", "shared", "dynamic"};

struct test_window {
  enum flavor flavor;
  MPI_Win win;
  char* base;
  MPI_Aint bytes;
  int unit;            /* of this rank */
  int* units;          /* of all ranks */
  MPI_Aint* addresses; /* of a dynamic window */
};

/* Around loads and stores of the rank's own part of a window. Loads behind `begin_own_accesses` see
 * what other ranks have put; other ranks see what was stored before `end_own_accesses` (MPI-5,
 * section 12.7). A barrier would be enough here, but its order goes through another process, and
 * ThreadSanitizer sees one process only. */
static inline void begin_own_accesses(const struct test_window* w) {
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, w->win));
}
static inline void end_own_accesses(const struct test_window* w) {
  CHECK_OK(MPI_Win_unlock(check_rank, w->win));
}

static inline struct test_window open_window(enum flavor flavor, MPI_Aint bytes, int unit) {
  struct test_window made = {flavor, MPI_WIN_NULL, NULL, bytes, unit, NULL, NULL};
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_Aint address = 0;
  if (flavor == DYNAMIC) made.unit = 1;
  made.units = malloc((size_t)check_size * sizeof(int));
  made.addresses = malloc((size_t)check_size * sizeof(MPI_Aint));
  MPI_Allgather(&made.unit, 1, MPI_INT, made.units, 1, MPI_INT, world);
  switch (flavor) {
    case CREATED:
      made.base = malloc((size_t)bytes);
      CHECK_OK(MPI_Win_create(made.base, bytes, unit, MPI_INFO_NULL, world, &made.win));
      break;
    case ALLOCATED:
      CHECK_OK(MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, world, &made.base, &made.win));
      break;
    case SHARED:
      CHECK_OK(MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, world, &made.base, &made.win));
      break;
    default:
      CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, world, &made.win));
      made.base = malloc((size_t)bytes);
      CHECK_OK(MPI_Win_attach(made.win, made.base, bytes));
      MPI_Get_address(made.base, &address);
  }
  MPI_Allgather(&address, 1, MPI_AINT, made.addresses, 1, MPI_AINT, world);
  MPI_Win_set_errhandler(made.win, MPI_ERRORS_RETURN);
  begin_own_accesses(&made);
  memset(made.base, 0, (size_t)bytes);
  end_own_accesses(&made);
  MPI_Barrier(world);
  return made;
}

static inline void close_window(struct test_window* w) {
  if (w->flavor == DYNAMIC) {
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_detach(w->win, w->base));
  }
  CHECK_OK(MPI_Win_free(&w->win));
  CHECK(w->win == MPI_WIN_NULL, "the handle was not reset");
  if (w->flavor == DYNAMIC || w->flavor == CREATED) free(w->base);
  free(w->units);
  free(w->addresses);
}

/* The displacement of a byte of a rank's window; `offset` is a multiple of its unit. */
static inline MPI_Aint displacement(const struct test_window* w, int rank, MPI_Aint offset) {
  if (w->flavor == DYNAMIC) return MPI_Aint_add(w->addresses[rank], offset);
  return offset / w->units[rank];
}

#endif
