/// Small messages per second while large ones keep all rails busy, one way.
#include <stdlib.h>

#include "bench.h"

enum { tag_bulk = 1, tag_small = 2, tag_more = 3, bulks = 4, last_window = 1 };

struct stream {
  int rank, window;
  size_t bytes, bulk_bytes;
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

static void one_window(struct stream* s, char* memory, MPI_Request* requests) {
  for (int i = 0; i < s->window; ++i) {
    char* at = memory + (size_t)i * s->bytes;
    if (s->rank == 0)
      MPI_Isend(at, (int)s->bytes, MPI_BYTE, 1, tag_small, MPI_COMM_WORLD, &requests[i]);
    else MPI_Irecv(at, (int)s->bytes, MPI_BYTE, 0, tag_small, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Waitall(s->window, requests, MPI_STATUSES_IGNORE);
}

/// Those large ones that are through begin anew.
static void renew_bulk(struct stream* s) {
  for (int i = 0; i < bulks; ++i) {
    int done = 0;
    MPI_Test(&s->bulk_requests[i], &done, MPI_STATUS_IGNORE);
    if (done) {
      s->bulk_done += 1;
      start_bulk(s, i);
    }
  }
}

static void measure(struct bench* b, struct stream* s) {
  char* memory = buffer(s->bytes * (size_t)s->window);
  MPI_Request* requests = calloc((size_t)s->window, sizeof *requests);
  if (requests == NULL) abort();
  one_window(s, memory, requests);  // connections
  for (int i = 0; i < bulks; ++i) s->bulk[i] = buffer(s->bulk_bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < bulks; ++i) start_bulk(s, i);
  const uint64_t start = now_ns();
  double windows = 0;
  for (char end = 0; end != last_window; windows += 1) {
    one_window(s, memory, requests);
    if (s->rank == 1) end = now_ns() > start + (uint64_t)(b->seconds * 1e9) ? last_window : 0;
    MPI_Bcast(&end, 1, MPI_CHAR, 1, MPI_COMM_WORLD);
    renew_bulk(s);
  }
  const double seconds = largest((double)(now_ns() - start) * 1e-9);
  // Each end has started as many as it saw ending: the one that is behind catches up.
  double most = largest(s->bulk_done);
  for (int i = 0; s->bulk_done < most; i = (i + 1) % bulks) {
    MPI_Wait(&s->bulk_requests[i], MPI_STATUS_IGNORE);
    start_bulk(s, i);
    s->bulk_done += 1;
  }
  MPI_Waitall(bulks, s->bulk_requests, MPI_STATUSES_IGNORE);
  const double megabytes = most * (double)s->bulk_bytes * 1e-6;
  table_row(
      &b->table, NULL,
      (double[]){(double)s->bytes, windows * s->window / seconds * 1e-3, megabytes / seconds});
  for (int i = 0; i < bulks; ++i) free(s->bulk[i]);
  free(requests);
  free(memory);
}

int main(int argc, char** argv) {
  struct bench b = {.name = "busy_rails",
                    .about = "busy_rails: small messages per second while large ones go too.",
                    .thread_level = MPI_THREAD_SINGLE,
                    .ranks = 2,
                    .seconds = 1};
  double bytes = 64, window = 256, bulk_bytes = 4 << 20;
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
                     .bytes = (size_t)bytes,
                     .bulk_bytes = (size_t)bulk_bytes};
  measure(&b, &s);
  return bench_finish(&b);
}
