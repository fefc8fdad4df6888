/// The cost of a message by the length of the matching queues: `depth` receives that are posted
/// before their messages arrive, or `depth` messages that arrive before their receives, each with
/// its own tag, matched in the order of the tags or in reverse; or by receives of any source.
#include <stdlib.h>

#include "bench.h"

enum { go = 1, data_first = 16 };  // tags

struct shape {
  const char* name;
  bool unexpected, reverse, any_source;
};

static int tag_of(const struct shape* shape, int i, int depth, bool second) {
  return data_first + (second && shape->reverse ? depth - 1 - i : i);
}

/// Sends empty messages of `depth` tags. `second`: they match receives that are posted already.
static void send_all(const struct shape* shape, int depth, bool second, MPI_Request* requests) {
  for (int i = 0; i < depth; ++i)
    MPI_Isend(NULL, 0, MPI_BYTE, 1, tag_of(shape, i, depth, second), MPI_COMM_WORLD, &requests[i]);
}

static void receive_all(const struct shape* shape, int depth, bool second, MPI_Request* requests) {
  const int source = shape->any_source ? MPI_ANY_SOURCE : 0;
  for (int i = 0; i < depth; ++i)
    MPI_Irecv(NULL, 0, MPI_BYTE, source, tag_of(shape, i, depth, second), MPI_COMM_WORLD,
              &requests[i]);
  if (second) MPI_Waitall(depth, requests, MPI_STATUSES_IGNORE);
}

/// Nanoseconds for a message, on the receiver.
static double once(const struct bench* b, const struct shape* shape, int depth,
                   MPI_Request* requests) {
  char word = 0;
  uint64_t start = 0;
  starting_line(b);
  if (b->rank == 0 && shape->unexpected) {
    send_all(shape, depth, false, requests);
    MPI_Send(&word, 1, MPI_BYTE, 1, go, MPI_COMM_WORLD);
    MPI_Waitall(depth, requests, MPI_STATUSES_IGNORE);
  } else if (b->rank == 0) {
    MPI_Recv(&word, 1, MPI_BYTE, 1, go, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    send_all(shape, depth, true, requests);
    MPI_Waitall(depth, requests, MPI_STATUSES_IGNORE);
  } else if (shape->unexpected) {
    MPI_Recv(&word, 1, MPI_BYTE, 0, go, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    start = now_ns();
    receive_all(shape, depth, true, requests);
  } else {
    receive_all(shape, depth, false, requests);
    MPI_Send(&word, 1, MPI_BYTE, 0, go, MPI_COMM_WORLD);
    start = now_ns();
    MPI_Waitall(depth, requests, MPI_STATUSES_IGNORE);
  }
  return largest(b->rank == 1 ? (double)(now_ns() - start) / depth : 0);
}

static void measure(struct bench* b, const struct shape* shape, int depth) {
  MPI_Request* requests = calloc((size_t)depth, sizeof *requests);
  if (requests == NULL) abort();
  const double first_ns = once(b, shape, depth, requests);
  const long count = bench_repeat(b, first_ns * depth, 3, 10000);
  struct samples samples = {.count = 0};
  const uint64_t start = now_ns();
  for (long done = 0; bench_goes_on(b, done, count, start); ++done)
    samples_add(&samples, once(b, shape, depth, requests));
  table_row(&b->table, shape->name, (double[]){depth, summarise(&samples).median});
  samples_free(&samples);
  free(requests);
}

int main(int argc, char** argv) {
  struct bench b = {.name = "matching",
                    .about =
                        "matching: what a message costs by how many others wait.\n"
                        "posted: receives come first; late: messages do, and are unexpected;\n"
                        "-rev: taken in reverse; -any: so, by receives of any source.",
                    .thread_level = MPI_THREAD_SINGLE,
                    .ranks = 2,
                    .seconds = 0.3};
  struct list depths = {.count = 0};
  list_read(&depths, "10,1000,100000");
  const struct option own[] = {{"--depths", option_list, &depths, "how many wait"},
                               {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  const struct column columns[] = {{"depth", 0}, {"median_ns", 1}};
  bench_table(&b, "case", columns, 2);
  static const struct shape shapes[] = {
      {"posted", false, false, false},   {"posted-rev", false, true, false},
      {"posted-any", false, true, true}, {"late", true, false, false},
      {"late-rev", true, true, false},   {"late-any", true, true, true}};
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; ++s)
    for (int i = 0; i < depths.count; ++i) measure(&b, &shapes[s], (int)depths.value[i]);
  return bench_finish(&b);
}
