/// Small messages per second, one way, while large ones keep all rails busy. A window of small
/// messages and four large ones are always in flight; each that completes is started again.
#include <stdlib.h>

#include "bench.h"

enum { tag_bulk = 1, tag_small = 2, bulks = 4, look_every = 32 };

struct stream {
  int rank, window;
  size_t bytes, bulk_bytes;
  uint64_t end_ns;
  char* memory;  ///< window * bytes
  MPI_Request* requests;
  char* bulk[bulks];
  MPI_Request bulk_requests[bulks];
  double bulk_done;
};

static void start_bulk(struct stream* s, int i) {
  if (s->rank == 0)
    MPI_Isend(s->bulk[i], (int)s->bulk_bytes, MPI_BYTE, 1, tag_bulk, MPI_COMM_WORLD,
              &s->bulk_requests[i]);
  else
    MPI_Irecv(s->bulk[i], (int)s->bulk_bytes, MPI_BYTE, 0, tag_bulk, MPI_COMM_WORLD,
              &s->bulk_requests[i]);
}

static void renew_bulk(struct stream* s) {
  for (int i = 0; i < bulks; ++i) {
    int done = 0;
    MPI_Test(&s->bulk_requests[i], &done, MPI_STATUS_IGNORE);
    if (!done) continue;
    s->bulk_done += 1;
    start_bulk(s, i);
  }
}

static void start_small(struct stream* s, int slot, char last) {
  char* at = s->memory + (size_t)slot * s->bytes;
  if (s->rank == 0) {
    *at = last;
    MPI_Isend(at, (int)s->bytes, MPI_BYTE, 1, tag_small, MPI_COMM_WORLD, &s->requests[slot]);
  } else {
    MPI_Irecv(at, (int)s->bytes, MPI_BYTE, 0, tag_small, MPI_COMM_WORLD, &s->requests[slot]);
  }
}

/// Runs until the sender's clock reaches the end; the first byte of the last message marks it for
/// the receiver. Then sends one window more, so that every posted receive completes. Returns how
/// many messages came before.
static double run(struct stream* s) {
  for (int i = 0; i < s->window; ++i) start_small(s, i, 0);
  double count = 0;
  for (bool over = false; !over; count += 1) {
    const int slot = (int)((long)count % s->window);
    MPI_Wait(&s->requests[slot], MPI_STATUS_IGNORE);
    over = s->rank == 0 ? now_ns() > s->end_ns : s->memory[(size_t)slot * s->bytes] != 0;
    if (s->rank == 0 || !over) start_small(s, slot, (char)over);
    if ((long)count % look_every == 0) renew_bulk(s);
  }
  if (s->rank == 0) {
    for (int i = 0; i < s->window - 1; ++i) {
      const int slot = (int)(((long)count + i) % s->window);
      MPI_Wait(&s->requests[slot], MPI_STATUS_IGNORE);
      start_small(s, slot, 0);
    }
  }
  MPI_Waitall(s->window, s->requests, MPI_STATUSES_IGNORE);
  return count;
}

static void measure(struct bench* b, struct stream* s) {
  for (int i = 0; i < bulks; ++i) s->bulk[i] = buffer(s->bulk_bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < bulks; ++i) start_bulk(s, i);
  const uint64_t start = now_ns();
  s->end_ns = start + (uint64_t)(b->seconds * 1e9);
  const double count = largest(run(s));
  const double seconds = largest((double)(now_ns() - start) * 1e-9);
  // Each rank has restarted as many as it saw complete: the rank that saw fewer restarts the rest.
  const double most = largest(s->bulk_done);
  for (int i = 0; s->bulk_done < most; i = (i + 1) % bulks) {
    MPI_Wait(&s->bulk_requests[i], MPI_STATUS_IGNORE);
    start_bulk(s, i);
    s->bulk_done += 1;
  }
  MPI_Waitall(bulks, s->bulk_requests, MPI_STATUSES_IGNORE);
  const double megabytes = most * (double)s->bulk_bytes * 1e-6;
  table_row(&b->table, NULL,
            (double[]){(double)s->bytes, count / seconds * 1e-3, megabytes / seconds});
  for (int i = 0; i < bulks; ++i) free(s->bulk[i]);
}

int main(int argc, char** argv) {
  struct bench b = {.name = "busy_rails",
                    .about = "busy_rails: small messages per second while large ones go too.",
                    .thread_level = MPI_THREAD_SINGLE,
                    .ranks = 2,
                    .seconds = 1};
  double bytes = 64, window = 1024, bulk_bytes = 4 << 20;
  const struct option own[] = {
      {"--bytes", option_number, &bytes, "bytes of a small message"},
      {"--window", option_number, &window, "small messages in flight"},
      {"--bulk-bytes", option_number, &bulk_bytes, "bytes of a large message, four in flight"},
      {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  const struct column columns[] = {{"small_bytes", 0}, {"thousand_per_s", 1}, {"bulk_mb_per_s", 1}};
  bench_table(&b, NULL, columns, 3);
  struct stream s = {.rank = b.rank,
                     .window = window < 1 ? 1 : (int)window,
                     .bytes = bytes < 1 ? 1 : (size_t)bytes,
                     .bulk_bytes = (size_t)bulk_bytes};
  s.memory = buffer(s.bytes * (size_t)s.window);
  s.requests = calloc((size_t)s.window, sizeof *s.requests);
  if (s.requests == NULL) abort();
  measure(&b, &s);
  free(s.requests);
  free(s.memory);
  return bench_finish(&b);
}
