/* Litmus tests of the orderings that the standard promises between one-sided operations (MPI-5.0
 * section 12.7): the outcomes that it forbids do not occur. Ranks 0 and 1 are the origins; the
 * elements lie at the last rank, or one there and one at rank 0. */
#include "watched.h"
#include "windows.h"

enum { ROUNDS = 300, READS = 4 };

struct test {
  struct test_window* w;
  int x_at, y_at; /* the ranks that have them */
};

static MPI_Aint place(const struct test* t, int rank, int element) {
  return displacement(t->w, rank, (MPI_Aint)element * 8);
}
/* Element 2 * round is x, the next one y. */
static void write_x(const struct test* t, int round, long value) {
  CHECK_OK(MPI_Accumulate(&value, 1, MPI_LONG, t->x_at, place(t, t->x_at, 2 * round), 1, MPI_LONG,
                          MPI_REPLACE, t->w->win));
}
static void write_y(const struct test* t, int round, long value) {
  CHECK_OK(MPI_Accumulate(&value, 1, MPI_LONG, t->y_at, place(t, t->y_at, 2 * round + 1), 1,
                          MPI_LONG, MPI_REPLACE, t->w->win));
}
static void read_x(const struct test* t, int round, long* into) {
  CHECK_OK(MPI_Fetch_and_op(NULL, into, MPI_LONG, t->x_at, place(t, t->x_at, 2 * round), MPI_NO_OP,
                            t->w->win));
}
static void read_y(const struct test* t, int round, long* into) {
  CHECK_OK(MPI_Fetch_and_op(NULL, into, MPI_LONG, t->y_at, place(t, t->y_at, 2 * round + 1),
                            MPI_NO_OP, t->w->win));
}
static void flush(const struct test* t) { CHECK_OK(MPI_Win_flush_all(t->w->win)); }

/* What rank 1 has read, at rank 0 as well. */
static void exchange(long* seen, int count) { MPI_Bcast(seen, count, MPI_LONG, 1, MPI_COMM_WORLD); }

/* Store buffering: each writes one and reads the other; one of them sees the other's write. */
static void one_sees_the_other(const struct test* t) {
  for (int i = 0; i < ROUNDS; ++i) {
    long mine = 1, other = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
      write_x(t, i, 1);
      flush(t);
      read_y(t, i, &mine);
      flush(t);
    } else if (check_rank == 1) {
      write_y(t, i, 1);
      flush(t);
      read_x(t, i, &mine);
      flush(t);
    }
    other = mine;
    exchange(&other, 1);
    if (check_rank == 0) CHECK(mine == 1 || other == 1, "round %d: both read 0", i);
  }
}

/* Message passing: what was flushed before a flag was written is there when the flag is. */
static void a_flag_comes_after_its_data(const struct test* t) {
  for (int i = 0; i < ROUNDS; ++i) {
    long flag = 0, data = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
      write_x(t, i, 7);
      flush(t);
      write_y(t, i, 1);
      flush(t);
    } else if (check_rank == 1) {
      read_y(t, i, &flag);
      flush(t);
      read_x(t, i, &data);
      flush(t);
      CHECK(flag == 0 || data == 7, "round %d: the flag without its data", i);
    }
  }
}

/* The same, where the target itself looks, by loads (MPI_WIN_UNIFIED). */
static void a_target_sees_the_data_of_a_flag(const struct test* t) {
  if (t->x_at != t->y_at || t->x_at == 0) return;
  for (int i = 0; i < ROUNDS; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
      write_x(t, i, 7);
      flush(t);
      write_y(t, i, 1);
      flush(t);
    } else if (check_rank == t->x_at) {
      const long* const own = (const long*)t->w->base;
      do {
        MPI_Win_sync(t->w->win);
      } while (watched_long(&own[2 * i + 1]) == 0);
      MPI_Win_sync(t->w->win);
      CHECK(own[2 * i] == 7, "round %d: %ld", i, own[2 * i]);
    }
  }
}

/* Coherence: accumulates of an origin have their effect in the order of its calls, and its reads
 * never go back; without a flush (accumulate_ordering). */
static void reads_never_go_back(const struct test* t) {
  for (int i = 0; i < ROUNDS; ++i) {
    long seen[READS] = {0};
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
      for (long value = 1; value <= READS; ++value) write_x(t, i, value);
      flush(t);
    } else if (check_rank == 1) {
      for (int j = 0; j < READS; ++j) read_x(t, i, &seen[j]);
      flush(t);
      for (int j = 1; j < READS; ++j)
        CHECK(seen[j - 1] <= seen[j], "round %d: %ld, then %ld", i, seen[j - 1], seen[j]);
    }
  }
}

/* An origin's own operations on an element: read after write, write after read and after write. */
static void an_origin_sees_its_own_order(const struct test* t) {
  if (check_rank == 0)
    for (int i = 0; i < ROUNDS; ++i) {
      long before = -1, between = -1, after = -1;
      read_x(t, i, &before);
      write_x(t, i, 5);
      read_x(t, i, &between);
      write_x(t, i, 6);
      write_x(t, i, 7);
      read_x(t, i, &after);
      flush(t);
      CHECK(before == 0 && between == 5 && after == 7, "round %d: %ld %ld %ld", i, before, between,
            after);
    }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  static void (*const tests[])(const struct test*) = {
      one_sees_the_other, a_flag_comes_after_its_data, a_target_sees_the_data_of_a_flag,
      reads_never_go_back, an_origin_sees_its_own_order};
  const int last = check_size - 1;
  for (int f = 0; f < FLAVORS; ++f)
    for (int of = 0; of < 5; ++of)
      for (int apart = 0; apart < 2; ++apart) {
        struct test_window w = open_window((enum flavor)f, ROUNDS * 16, 8);
        const struct test t = {&w, last, apart ? 0 : last};
        CHECK_OK(MPI_Win_lock_all(0, w.win));
        tests[of](&t);
        CHECK_OK(MPI_Win_unlock_all(w.win));
        close_window(&w);
      }
  return check_end("one_sided orderings");
}
