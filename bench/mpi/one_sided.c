/// One-sided operations on a target that waits in MPI_Wait, or that computes and makes no call:
/// the time of an operation with its flush, and of whole epochs. Rank 0 is the origin, rank 1 the
/// target. Operations of less than a microsecond are timed a hundred at a time.
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "floors.h"

enum { end_tag = 1, computed_units = 1000, short_row = 100 };

struct window {
  MPI_Win win;
  char* base;
  char* data;  ///< of the origin
};

typedef void operation(struct window* w, int bytes);

static void put(struct window* w, int bytes) {
  MPI_Put(w->data, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, w->win);
  MPI_Win_flush(1, w->win);
}
static void get(struct window* w, int bytes) {
  MPI_Get(w->data, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, w->win);
  MPI_Win_flush(1, w->win);
}
static void accumulate(struct window* w, int bytes) {
  MPI_Accumulate(w->data, bytes / 8, MPI_INT64_T, 1, 0, bytes / 8, MPI_INT64_T, MPI_SUM, w->win);
  MPI_Win_flush(1, w->win);
}
static void fetch_and_op(struct window* w, int bytes) {
  (void)bytes;
  MPI_Fetch_and_op(w->data, w->data + 8, MPI_INT64_T, 1, 0, MPI_SUM, w->win);
  MPI_Win_flush(1, w->win);
}
static void compare_and_swap(struct window* w, int bytes) {
  (void)bytes;
  MPI_Compare_and_swap(w->data, w->data + 8, w->data + 16, MPI_INT64_T, 1, 0, w->win);
  MPI_Win_flush(1, w->win);
}
static void puts_of_8(struct window* w, int bytes) {
  for (int at = 0; at < bytes; at += 8)
    MPI_Put(w->data + at, 8, MPI_BYTE, 1, at, 8, MPI_BYTE, w->win);
  MPI_Win_flush(1, w->win);
}
static void lock_put_unlock(struct window* w, int bytes) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w->win);
  MPI_Put(w->data, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, w->win);
  MPI_Win_unlock(1, w->win);
}

static void exchange(struct window* w, int bytes) {
  (void)w;
  (void)bytes;
  floor_exchange();
}
static void write_by_kernel(struct window* w, int bytes) {
  (void)w;
  (void)bytes;
  floor_write();
}

static const struct row {
  const char* name;
  operation* run;
  int bytes;   ///< 0: each of --sizes
  bool locks;  ///< it begins and ends an epoch of its own, or needs none
  /// Of what is not served by the library: what the target does besides waiting or computing, and
  /// what the origin does in the end. Null: nothing.
  void (*serve)(bool computing);
  void (*end)(void);
} rows[] = {{"put", put, 0, false, NULL, NULL},
            {"get", get, 0, false, NULL, NULL},
            {"accumulate", accumulate, 0, false, NULL, NULL},
            {"fetch_op", fetch_and_op, 8, false, NULL, NULL},
            {"cas", compare_and_swap, 8, false, NULL, NULL},
            {"puts_of_8", puts_of_8, 512, false, NULL, NULL},
            {"lock_put", lock_put_unlock, 8, true, NULL, NULL}};

static const struct row exchange_row = {.name = "tcp_floor",
                                        .run = exchange,
                                        .bytes = 8,
                                        .locks = true,
                                        .serve = floor_exchange_serve,
                                        .end = floor_exchange_end};
static const struct row write_row = {
    .name = "kernel_floor", .run = write_by_kernel, .bytes = 8, .locks = true};

static void measure(struct bench* b, struct window* w, const struct row* r, int bytes,
                    bool computing) {
  struct samples samples = {0};
  if (!r->locks) MPI_Win_lock_all(0, w->win);
  // With a library that needs the target, each operation waits for its next call: few then do.
  const int first = computing ? 1 : 10;
  const size_t least = computing ? 4 : 16;
  for (int i = 0; i < first; ++i) r->run(w, bytes);
  // A clock read takes about as long as an operation on mapped memory.
  const uint64_t warm = now_ns();
  r->run(w, bytes);
  const int row = now_ns() - warm < 1000 ? short_row : 1;
  const uint64_t end = now_ns() + (uint64_t)(b->seconds * 1e9);
  const uint64_t late = end + (uint64_t)(b->seconds * 9e9);  // few enough, of what takes seconds
  const long most = b->iterations > 0 ? (long)b->iterations : samples_max;
  while ((long)samples.count < most) {
    const uint64_t start = now_ns();
    const bool enough = samples.count >= least || (start > late && samples.count > 0);
    if (b->iterations == 0 && start > end && enough) break;
    for (int i = 0; i < row; ++i) r->run(w, bytes);
    samples_add(&samples, (double)(now_ns() - start) / 1000 / row);
  }
  if (!r->locks) MPI_Win_unlock_all(w->win);
  const double count = (double)samples.count * row;
  const struct summary s = summarise(&samples);
  table_row(&b->table, r->name, (double[]){bytes, computing, s.median, s.best, s.p99, count});
  samples_free(&samples);
}

/// The target, until the origin has measured a row.
static void be_target(bool computing) {
  MPI_Request over;
  MPI_Irecv(NULL, 0, MPI_BYTE, 0, end_tag, MPI_COMM_WORLD, &over);
  if (computing) {
    // It looks for the end now and then only: with libraries that need a call of the target, the
    // origin waits until then.
    const uint64_t apart_ns = 20 * 1000 * 1000;
    for (int done = 0; !done;) {
      for (const uint64_t until = now_ns() + apart_ns; now_ns() < until;) work(computed_units);
      MPI_Test(&over, &done, MPI_STATUS_IGNORE);
    }
  } else {
    MPI_Wait(&over, MPI_STATUS_IGNORE);
  }
}

static void run_row(struct bench* b, struct window* w, const struct row* r, int bytes) {
  for (int computing = 0; computing < 2; ++computing) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (b->rank == 0) {
      measure(b, w, r, bytes, computing);
      if (r->end != NULL) r->end();
      MPI_Send(NULL, 0, MPI_BYTE, 1, end_tag, MPI_COMM_WORLD);
    } else {
      if (r->serve != NULL) r->serve(computing);
      be_target(computing);
    }
  }
}

/// An epoch in which both ranks take part.
typedef void epoch(struct window* w, const MPI_Group* other, int rank);

static void fence(struct window* w, const MPI_Group* other, int rank) {
  (void)other;
  (void)rank;
  MPI_Win_fence(0, w->win);
}
static void fence_put(struct window* w, const MPI_Group* other, int rank) {
  (void)other;
  if (rank == 0) MPI_Put(w->data, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, w->win);
  MPI_Win_fence(0, w->win);
}
static void pscw_put(struct window* w, const MPI_Group* other, int rank) {
  if (rank == 0) {
    MPI_Win_start(*other, 0, w->win);
    MPI_Put(w->data, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, w->win);
    MPI_Win_complete(w->win);
  } else {
    MPI_Win_post(*other, 0, w->win);
    MPI_Win_wait(w->win);
  }
}

static void run_epochs(struct bench* b, struct window* w, const char* name, epoch* run,
                       bool fenced) {
  MPI_Group all, other;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, (int[]){1 - b->rank}, &other);
  struct samples samples = {0};
  const long count = bench_repeat(b, 1000, 16, 100000);
  if (fenced) MPI_Win_fence(0, w->win);
  for (long i = 0; i < count; ++i) {
    const uint64_t start = now_ns();
    run(w, &other, b->rank);
    samples_add(&samples, (double)(now_ns() - start) / 1000);
  }
  if (fenced) MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
  MPI_Group_free(&other);
  MPI_Group_free(&all);
  const struct summary s = summarise(&samples);
  if (b->rank == 0)
    table_row(&b->table, name, (double[]){8, 0, s.median, s.best, s.p99, (double)count});
  samples_free(&samples);
}

static void run_operations(struct bench* b, struct window* w, const struct list* sizes,
                           bool tcp_floor, bool kernel_floor) {
  const struct column columns[] = {{"bytes", 0},   {"computing", 0}, {"median_us", 3},
                                   {"best_us", 3}, {"p99_us", 3},    {"operations", 0}};
  bench_table(b, "operation", columns, 6);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    if (rows[i].bytes != 0) {
      run_row(b, w, &rows[i], rows[i].bytes);
    } else {
      for (int s = 0; s < sizes->count; ++s) run_row(b, w, &rows[i], (int)sizes->value[s]);
    }
  }
  if (tcp_floor) {
    floor_exchange_open(b->rank);
    run_row(b, w, &exchange_row, 8);
  }
  if (kernel_floor) {
    floor_write_open(b->rank, w->base);
    run_row(b, w, &write_row, 8);
  }
  run_epochs(b, w, "fence", fence, true);
  run_epochs(b, w, "fence_put", fence_put, true);
  run_epochs(b, w, "pscw_put", pscw_put, false);
}

int main(int argc, char** argv) {
  struct bench b = {
      .name = "one_sided",
      .about = "one_sided: operations on a target that waits, and on one that computes.",
      .thread_level = MPI_THREAD_SINGLE,
      .ranks = 2,
      .seconds = 0.5};
  struct list sizes = {.count = 0};
  list_read(&sizes, "8,64K,1M");
  bool created = false, tcp_floor = false, kernel_floor = false;
  double behind = 0;
  const struct option own[] = {
      {"--sizes", option_list, &sizes, "bytes, multiples of 8"},
      {"--behind", option_number, &behind,
       "bytes from the beginning of a page to the origin's buffer, a multiple of 8 [0]"},
      {"--created", option_flag, &created, "MPI_Win_create instead of MPI_Win_allocate"},
      {"--tcp-floor", option_flag, &tcp_floor,
       "also 64 bytes and back over a bare TCP connection, without the library"},
      {"--kernel-floor", option_flag, &kernel_floor,
       "also a bare system call that writes 8 bytes to the target's memory"},
      {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  size_t most = 4096;
  for (int i = 0; i < sizes.count; ++i)
    if (sizes.value[i] > most) most = sizes.value[i];
  char* const pages = buffer(most + (size_t)behind);
  struct window w = {.data = pages + (size_t)behind};
  memset(w.data, 0, most);
  if (created) {
    w.base = buffer(most);
    MPI_Win_create(w.base, (MPI_Aint)most, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.win);
  } else {
    MPI_Win_allocate((MPI_Aint)most, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.base, &w.win);
  }
  run_operations(&b, &w, &sizes, tcp_floor, kernel_floor);
  MPI_Win_free(&w.win);
  if (created) free(w.base);
  free(pages);
  return bench_finish(&b);
}
