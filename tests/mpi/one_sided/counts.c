/* Operations are counted by the way that they take, and by the targets that serve them: as
 * performance variables here, and in the table of HEADWAY_STATS. */
#include "windows.h"

enum { PUTS = 5, GETS = 4, ACCUMULATES = 3, FETCHES = 2, BYTES = 8, ROWS = 4, KINDS = 5 };
static const char* const rows[] = {"wire", "nearby", "mapped", "served"};
static const char* const kinds[] = {"puts", "gets", "accumulates", "fetches", "bytes"};
static const unsigned long long wanted[] = {PUTS, GETS, ACCUMULATES, FETCHES,
                                            BYTES*(PUTS + GETS + ACCUMULATES + FETCHES)};

static MPI_T_pvar_session session;

/* Counts from now on; MPI_T_PVAR_HANDLE_NULL: nothing of the kind was ever counted. */
static MPI_T_pvar_handle start(const char* row, const char* kind) {
  char name[64];
  int number = 0, index = -1, elements = 0;
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  snprintf(name, sizeof name, "windows.%s.%s", row, kind);
  CHECK_OK(MPI_T_pvar_get_num(&number)); /* looks for new ones */
  if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS) return handle;
  CHECK_OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &elements));
  CHECK_OK(MPI_T_pvar_start(session, handle));
  return handle;
}

static unsigned long long stop(MPI_T_pvar_handle handle) {
  unsigned long long value = 0;
  if (handle == MPI_T_PVAR_HANDLE_NULL) return 0;
  CHECK_OK(MPI_T_pvar_read(session, handle, &value));
  CHECK_OK(MPI_T_pvar_handle_free(session, &handle));
  return value;
}

static void operate(MPI_Win win, int target) {
  long value = 1, before;
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
  for (int i = 0; i < PUTS; ++i) MPI_Put(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
  for (int i = 0; i < GETS; ++i) MPI_Get(&before, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
  for (int i = 0; i < ACCUMULATES; ++i)
    MPI_Accumulate(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, win);
  MPI_Fetch_and_op(&value, &before, MPI_LONG, target, 0, MPI_SUM, win);
  MPI_Compare_and_swap(&value, &value, &before, MPI_LONG, target, 0, win);
  CHECK_OK(MPI_Win_unlock(target, win));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  int level;
  long* base;
  MPI_Win win;
  CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
  CHECK_OK(MPI_T_pvar_session_create(&session));
  CHECK_OK(MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  const int target = (check_rank + 1) % check_size;
  operate(win, target); /* a row is there when it has counted something */
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_T_pvar_handle handles[ROWS][KINDS];
  for (int row = 0; row < ROWS; ++row)
    for (int kind = 0; kind < KINDS; ++kind) handles[row][kind] = start(rows[row], kinds[kind]);
  MPI_Barrier(MPI_COMM_WORLD);
  operate(win, target);
  MPI_Barrier(MPI_COMM_WORLD);
  const char* const way = getenv("HEADWAY_WINDOWS");
  for (int row = 0; row < ROWS; ++row) {
    const char* const expected = strcmp(rows[row], "served") == 0 ? "wire" : rows[row];
    const int counts = strcmp(expected, way) == 0;
    for (int kind = 0; kind < KINDS; ++kind) {
      const unsigned long long found = stop(handles[row][kind]);
      CHECK(found == (counts ? wanted[kind] : 0), "%s.%s: %llu", rows[row], kinds[kind], found);
    }
  }
  CHECK_OK(MPI_T_pvar_session_free(&session));
  CHECK_OK(MPI_T_finalize());
  CHECK_OK(MPI_Win_free(&win));
  return check_end("one_sided counts");
}
