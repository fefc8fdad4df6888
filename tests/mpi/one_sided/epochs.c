/* Epochs: what they order, what they exclude, and what they refuse. */
#include "windows.h"

static struct test_window window;
static int next(void) { return (check_rank + 1) % check_size; }

/* Every rank adds to a counter of rank 0 without atomic operations, under the exclusive lock. */
static void exclusive_locks_exclude(void) {
  enum { ROUNDS = 300 };
  for (int i = 0; i < ROUNDS; ++i) {
    long value = -1;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.win));
    CHECK_OK(MPI_Get(&value, 1, MPI_LONG, 0, displacement(&window, 0, 0), 1, MPI_LONG, window.win));
    CHECK_OK(MPI_Win_flush(0, window.win));
    ++value;
    CHECK_OK(MPI_Put(&value, 1, MPI_LONG, 0, displacement(&window, 0, 0), 1, MPI_LONG, window.win));
    CHECK_OK(MPI_Win_unlock(0, window.win));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) {
    begin_own_accesses(&window);
    CHECK(*(long*)window.base == (long)ROUNDS * check_size, "%ld", *(long*)window.base);
    *(long*)window.base = 0;
    end_own_accesses(&window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Two words that writers keep equal are never seen different by readers. */
static void readers_never_see_half_of_a_write(void) {
  for (int i = 0; i < 200; ++i) {
    long pair[2] = {check_rank * 1000 + i, check_rank * 1000 + i};
    const int writes = (i + check_rank) % 3 == 0;
    CHECK_OK(MPI_Win_lock(writes ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, window.win));
    for (int k = 0; k < 2; ++k) {
      const MPI_Aint at = displacement(&window, 0, 8 * k);
      if (writes) CHECK_OK(MPI_Put(pair + k, 1, MPI_LONG, 0, at, 1, MPI_LONG, window.win));
      else CHECK_OK(MPI_Get(pair + k, 1, MPI_LONG, 0, at, 1, MPI_LONG, window.win));
      if (!writes || i % 2) CHECK_OK(MPI_Win_flush(0, window.win));
    }
    CHECK_OK(MPI_Win_unlock(0, window.win));
    CHECK(pair[0] == pair[1], "%ld and %ld", pair[0], pair[1]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* An epoch of more operations than a packet has room for, and one that reads under its lock. */
static void long_epochs_keep_their_order(void) {
  enum { PUTS = 3000 };
  const MPI_Aint at = displacement(&window, 0, 8 * check_rank);
  CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.win));
  for (long i = 1; i <= PUTS; ++i)
    CHECK_OK(MPI_Put(&i, 1, MPI_LONG, 0, at, 1, MPI_LONG, window.win));
  CHECK_OK(MPI_Win_unlock(0, window.win));
  long seen = 0, added = 1, before = 0, expected = PUTS + 1, swapped = 0;
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.win));
  CHECK_OK(MPI_Get(&seen, 1, MPI_LONG, 0, at, 1, MPI_LONG, window.win));
  CHECK_OK(MPI_Win_unlock(0, window.win));
  CHECK(seen == PUTS, "%ld", seen);
  CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.win));
  CHECK_OK(MPI_Fetch_and_op(&added, &before, MPI_LONG, 0, at, MPI_SUM, window.win));
  CHECK_OK(MPI_Win_unlock(0, window.win));
  CHECK(before == PUTS, "%ld", before);
  CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.win));
  CHECK_OK(MPI_Accumulate(&added, 1, MPI_LONG, 0, at, 1, MPI_LONG, MPI_REPLACE, window.win));
  CHECK_OK(MPI_Compare_and_swap(&expected, &added, &swapped, MPI_LONG, 0, at, window.win));
  CHECK_OK(MPI_Win_unlock(0, window.win));
  CHECK(swapped == 1, "%ld", swapped);
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.win));
  CHECK_OK(MPI_Win_unlock(0, window.win)); /* nothing */
  MPI_Barrier(MPI_COMM_WORLD);
}

/* What is too large for a packet, in epochs of both kinds. Created, so that by packets no rank maps
 * the memory of another: a lock then leaves with the operations. */
static void large_puts_are_there_at_the_end_of_an_epoch(void) {
  enum { COUNT = 100 * 1000 };
  int *base = malloc(COUNT * sizeof(int)), *values = malloc(COUNT * sizeof(int));
  MPI_Win win;
  MPI_Group from, to;
  const int before = (check_rank + check_size - 1) % check_size, after = next();
  CHECK_OK(
      MPI_Win_create(base, COUNT * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &before, &from);
  MPI_Group_incl(all, 1, &after, &to);
  for (int round = 1; round <= 10; ++round) {
    for (int i = 0; i < COUNT; ++i) values[i] = round * COUNT + i + check_rank;
    CHECK_OK(MPI_Win_post(from, 0, win));
    CHECK_OK(MPI_Win_start(to, 0, win));
    CHECK_OK(MPI_Put(values, COUNT, MPI_INT, after, 0, COUNT, MPI_INT, win));
    CHECK_OK(MPI_Win_complete(win));
    CHECK_OK(MPI_Win_wait(win));
    int right = 0;
    for (int i = 0; i < COUNT; ++i) right += base[i] == round * COUNT + i + before;
    CHECK(right == COUNT, "%d of round %d are there", right, round);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, after, 0, win));
    for (int i = 0; i < COUNT; ++i) values[i] = -values[i];
    CHECK_OK(MPI_Put(values, 1, MPI_INT, after, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Put(values, COUNT, MPI_INT, after, 0, COUNT, MPI_INT, win));
    CHECK_OK(MPI_Win_unlock(after, win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win));
    CHECK(base[COUNT - 1] == -(round * COUNT + COUNT - 1 + before), "%d", base[COUNT - 1]);
    CHECK_OK(MPI_Win_unlock(check_rank, win));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  /* Requests that fill a message but for a few bytes, and a fetch that takes several. */
  for (int puts = 1350; puts <= 1366; ++puts) {
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, after, 0, win));
    for (int i = 0; i < puts; ++i)
      CHECK_OK(MPI_Put(&puts, 1, MPI_INT, after, COUNT - 1, 1, MPI_INT, win));
    CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_INT, values, COUNT, MPI_INT, after, 0, COUNT, MPI_INT,
                                MPI_NO_OP, win));
    CHECK_OK(MPI_Win_unlock(after, win));
    CHECK(values[COUNT - 1] == puts, "%d instead of %d", values[COUNT - 1], puts);
  }
  MPI_Group_free(&from);
  MPI_Group_free(&to);
  MPI_Group_free(&all);
  MPI_Win_free(&win);
  free(base);
  free(values);
}

static void an_atomic_counter_counts_everybody(void) {
  enum { ROUNDS = 500 };
  long one = 1, before = 0, last = -1;
  begin_own_accesses(&window);
  memset(window.base, 0, 64);
  end_own_accesses(&window);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Win_lock_all(0, window.win));
  for (int i = 0; i < ROUNDS; ++i) {
    CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, displacement(&window, 0, 0), MPI_SUM,
                              window.win));
    CHECK_OK(MPI_Win_flush(0, window.win));
    CHECK(before > last, "%ld after %ld", before, last);
    last = before;
  }
  CHECK_OK(MPI_Win_unlock_all(window.win));
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) {
    begin_own_accesses(&window);
    CHECK(*(long*)window.base == (long)ROUNDS * check_size, "%ld", *(long*)window.base);
    end_own_accesses(&window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A flush means that the data is in the target's memory: a message then says so. */
static void a_flush_completes_at_the_target(void) {
  for (int i = 1; i <= 50; ++i) {
    const int values[3] = {i, 2 * i, 3 * i};
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, next(), 0, window.win));
    for (int k = 0; k < 3; ++k)
      CHECK_OK(MPI_Put(values + k, 1, MPI_INT, next(), displacement(&window, next(), 64 + 4 * k), 1,
                       MPI_INT, window.win));
    CHECK_OK(i % 2 ? MPI_Win_flush(next(), window.win) : MPI_Win_flush_all(window.win));
    char token = 0;
    MPI_Sendrecv(&token, 1, MPI_CHAR, next(), 0, &token, 1, MPI_CHAR, MPI_ANY_SOURCE, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_sync(window.win);
    const volatile int* mine = (const volatile int*)(window.base + 64);
    CHECK(mine[0] == i && mine[1] == 2 * i && mine[2] == 3 * i, "%d %d %d in round %d", mine[0],
          mine[1], mine[2], i);
    CHECK_OK(MPI_Win_unlock(next(), window.win));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void groups_of_targets_and_origins(void) {
  MPI_Group all, others;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_excl(all, 1, &check_rank, &others);
  for (int round = 0; round < 20; ++round) {
    memset(window.base + 128, 0, (size_t)check_size * sizeof(int));
    CHECK_OK(MPI_Win_post(others, 0, window.win));
    CHECK_OK(MPI_Win_start(others, 0, window.win));
    int value = 100 * round + check_rank + 1;
    for (int to = 0; to < check_size; ++to)
      if (to != check_rank)
        CHECK_OK(MPI_Put(&value, 1, MPI_INT, to, displacement(&window, to, 128 + 4 * check_rank), 1,
                         MPI_INT, window.win));
    CHECK_OK(MPI_Win_complete(window.win));
    if (round % 2) {
      CHECK_OK(MPI_Win_wait(window.win));
    } else {
      for (int flag = 0; !flag;) CHECK_OK(MPI_Win_test(window.win, &flag));
    }
    for (int from = 0; from < check_size; ++from)
      if (from != check_rank) {
        const int found = ((int*)(window.base + 128))[from];
        CHECK(found == 100 * round + from + 1, "%d from rank %d", found, from);
      }
  }
  MPI_Group_free(&others);
  MPI_Group_free(&all);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void fences_separate_phases(void) {
  CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, window.win));
  for (int i = 1; i <= 50; ++i) {
    CHECK_OK(MPI_Put(&i, 1, MPI_INT, next(), displacement(&window, next(), 256), 1, MPI_INT,
                     window.win));
    CHECK_OK(MPI_Win_fence(0, window.win));
    CHECK(*(int*)(window.base + 256) == i, "%d instead of %d", *(int*)(window.base + 256), i);
    CHECK_OK(MPI_Win_fence(i == 50 ? MPI_MODE_NOSUCCEED : 0, window.win));
  }
}

static void wrong_epochs_are_refused(void) {
  int value = 0, flag;
  const MPI_Win w = window.win;
  const MPI_Aint at = displacement(&window, 0, 0);
  MPI_Group self;
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, at, 1, MPI_INT, w), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_unlock(0, w), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_unlock_all(w), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_flush(0, w), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_flush_all(w), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_flush_local(0, w), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_flush_local_all(w), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_complete(w), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_wait(w), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_test(w, &flag), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock(77, 0, 0, w), MPI_ERR_LOCKTYPE);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, check_size, 0, w), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOPUT, w), MPI_ERR_ASSERT);
  CHECK_CLASS(MPI_Win_fence(MPI_MODE_NOCHECK, w), MPI_ERR_ASSERT);

  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, w));
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, w), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock_all(0, w), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_fence(0, w), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_free(&window.win), MPI_ERR_RMA_SYNC);
  if (check_size > 1)
    CHECK_CLASS(
        MPI_Put(&value, 1, MPI_INT, next(), displacement(&window, next(), 0), 1, MPI_INT, w),
        MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_start(MPI_GROUP_EMPTY, 0, w), MPI_ERR_RMA_SYNC);
  CHECK_OK(MPI_Win_unlock(check_rank, w));

  MPI_Comm_group(MPI_COMM_SELF, &self);
  CHECK_OK(MPI_Win_post(self, 0, w));
  CHECK_CLASS(MPI_Win_post(self, 0, w), MPI_ERR_RMA_SYNC);
  CHECK_OK(MPI_Win_start(self, 0, w));
  CHECK_CLASS(MPI_Win_start(self, 0, w), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, w), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, next(), 0, w), MPI_ERR_RMA_SYNC);
  CHECK_OK(MPI_Put(&check_rank, 1, MPI_INT, check_rank, displacement(&window, check_rank, 8), 1,
                   MPI_INT, w));
  CHECK_OK(MPI_Win_complete(w));
  CHECK_OK(MPI_Win_wait(w));
  CHECK(*(int*)(window.base + 8) == check_rank, "%d", *(int*)(window.base + 8));
  MPI_Group_free(&self);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Accesses outside of the window, and datatypes and operators that do not fit. */
static void more_than_any_memory_has_is_refused(void) {
  static const MPI_Count counts[] = {(MPI_Count)1 << 60, (MPI_Count)1 << 61,
                                     ((MPI_Count)1 << 61) + 1, (MPI_Count)1 << 62};
  double values[2] = {0};
  const MPI_Win w = window.win;
  const MPI_Aint at = displacement(&window, 0, 0);
  MPI_Datatype apart;
  MPI_Type_create_resized(MPI_DOUBLE, 0, (MPI_Aint)1 << 40, &apart);
  MPI_Type_commit(&apart);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    const MPI_Count n = counts[i];
    CHECK_CLASS(MPI_Put_c(values, n, MPI_DOUBLE, 0, at, n, MPI_DOUBLE, w), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Get_c(values, n, MPI_DOUBLE, 0, at, n, MPI_DOUBLE, w), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Accumulate_c(values, n, MPI_DOUBLE, 0, at, n, MPI_DOUBLE, MPI_SUM, w),
                MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Get_accumulate_c(NULL, 0, MPI_DATATYPE_NULL, values, n, MPI_DOUBLE, 0, at, n,
                                     MPI_DOUBLE, MPI_NO_OP, w),
                MPI_ERR_RMA_RANGE);
  }
  const MPI_Count far = (MPI_Count)1 << 24; /* the last of them would be 2^64 bytes away */
  CHECK_CLASS(MPI_Get_c(values, far, apart, 0, at, far, apart, w), MPI_ERR_RMA_RANGE);
  MPI_Type_free(&apart);
}

static void wrong_accesses_are_refused(void) {
  double values[4] = {0};
  const MPI_Win w = window.win;
  const MPI_Aint end = displacement(&window, 0, window.bytes);
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w));
  if (window.flavor != DYNAMIC) {
    CHECK_CLASS(MPI_Put(values, 1, MPI_DOUBLE, 0, end, 1, MPI_DOUBLE, w), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Put(values, 2, MPI_DOUBLE, 0, displacement(&window, 0, window.bytes - 8), 2,
                        MPI_DOUBLE, w),
                MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Get(values, 1, MPI_DOUBLE, 0, -1, 1, MPI_DOUBLE, w), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Accumulate(values, 1, MPI_DOUBLE, 0, end, 1, MPI_DOUBLE, MPI_SUM, w),
                MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Put(values, 1, MPI_DOUBLE, 0, (MPI_Aint)1 << 62, 1, MPI_DOUBLE, w),
                MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Put(values, 0, MPI_DOUBLE, 0, end, 0, MPI_DOUBLE, w));
  } else { /* only the target knows */
    CHECK_OK(MPI_Put(values, 1, MPI_DOUBLE, 0, end, 1, MPI_DOUBLE, w));
    CHECK_CLASS(MPI_Win_flush(0, w), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_flush(0, w));
    CHECK_OK(MPI_Get(values, 1, MPI_DOUBLE, 0, end, 1, MPI_DOUBLE, w));
    CHECK_CLASS(MPI_Win_flush(0, w), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Accumulate(values, 1, MPI_DOUBLE, 0, end, 1, MPI_DOUBLE, MPI_SUM, w));
    CHECK_CLASS(MPI_Win_flush(0, w), MPI_ERR_RMA_RANGE);
    char* large = calloc(1, 300000);
    CHECK_OK(MPI_Put(large, 300000, MPI_CHAR, 0, end, 300000, MPI_CHAR, w));
    CHECK_CLASS(MPI_Win_flush(0, w), MPI_ERR_RMA_RANGE);
    free(large);
  }
  if (window.flavor != DYNAMIC) more_than_any_memory_has_is_refused();
  const MPI_Aint at = displacement(&window, 0, 0);
  int count = 1;
  MPI_Datatype mixed;
  MPI_Op user;
  CHECK_CLASS(MPI_Put(values, 1, MPI_DOUBLE, 0, at, 1, MPI_INT, w), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Put(values, 1, MPI_DOUBLE, check_size, at, 1, MPI_DOUBLE, w), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Put(values, -1, MPI_DOUBLE, 0, at, 1, MPI_DOUBLE, w), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Put(NULL, 1, MPI_DOUBLE, 0, at, 1, MPI_DOUBLE, w), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Accumulate(values, 1, MPI_DOUBLE, 0, at, 1, MPI_DOUBLE, MPI_BOR, w), MPI_ERR_OP);
  CHECK_CLASS(MPI_Accumulate(values, 1, MPI_DOUBLE, 0, at, 1, MPI_DOUBLE, MPI_NO_OP, w),
              MPI_ERR_OP);
  CHECK_CLASS(MPI_Accumulate(values, 1, MPI_DOUBLE, 0, at, 1, MPI_LONG, MPI_SUM, w), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Compare_and_swap(values, values, values, MPI_DOUBLE, 0, at, w), MPI_ERR_TYPE);
  CHECK_OK(MPI_Accumulate(values, 0, MPI_BYTE, 0, at, 0, MPI_BYTE, MPI_SUM, w)); /* nothing */
  MPI_Op_create((MPI_User_function*)&wrong_accesses_are_refused, 1, &user);
  CHECK_CLASS(MPI_Accumulate(values, 1, MPI_DOUBLE, 0, at, 1, MPI_DOUBLE, user, w), MPI_ERR_OP);
  MPI_Op_free(&user);
  const MPI_Aint places[2] = {0, 8};
  const int counts[2] = {1, 1};
  const MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
  MPI_Type_create_struct(2, counts, places, types, &mixed);
  CHECK_CLASS(MPI_Put(values, 1, mixed, 0, at, 1, mixed, w), MPI_ERR_TYPE);
  MPI_Type_commit(&mixed);
  CHECK_CLASS(MPI_Accumulate(values, 1, mixed, 0, at, 1, mixed, MPI_SUM, w), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Fetch_and_op(values, values, mixed, 0, at, MPI_SUM, w), MPI_ERR_TYPE);
  MPI_Type_free(&mixed);
  CHECK_OK(MPI_Put(NULL, count, MPI_INT, MPI_PROC_NULL, 0, count, MPI_INT, w) == MPI_ERR_BUFFER
               ? MPI_SUCCESS
               : MPI_ERR_OTHER);
  CHECK_OK(MPI_Put(values, 1, MPI_INT, MPI_PROC_NULL, -5, 1, MPI_INT, w));
  CHECK_OK(MPI_Win_unlock(0, w));
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (int f = 0; f < FLAVORS; ++f) {
    window = open_window((enum flavor)f, 4096, check_rank % 2 ? 4 : 1);
    wrong_epochs_are_refused();
    wrong_accesses_are_refused();
    exclusive_locks_exclude();
    readers_never_see_half_of_a_write();
    long_epochs_keep_their_order();
    an_atomic_counter_counts_everybody();
    a_flush_completes_at_the_target();
    groups_of_targets_and_origins();
    fences_separate_phases();
    close_window(&window);
  }
  large_puts_are_there_at_the_end_of_an_epoch();
  CHECK_CLASS(MPI_Win_fence(0, window.win), MPI_ERR_WIN);
  return check_end("one_sided epochs");
}
