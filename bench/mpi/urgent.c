/// How long a small message and its answer take while messages of another communicator wait in
/// front of it, and how long all of them take. Rank 0 sends both; with and without the info key
/// `headway_priority` on the communicator of the small one, in turns. Libraries that do not know
/// the key show twice the same.
#include <stdlib.h>

#include "bench.h"

enum { tag_bulk = 1, tag_small = 2 };

struct load {
  int count;
  size_t bytes;
  char* memory;
  MPI_Request* requests;
};

static MPI_Comm with_priority(const char* value) {
  MPI_Comm made;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "headway_priority", value);
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &made);
  MPI_Info_free(&info);
  return made;
}

/// Microseconds until the answer to the small message came, and until all had come.
static void send_behind(const struct bench* b, const struct load* l, MPI_Comm small, double* one,
                        double* all) {
  char letter[8] = {0};
  if (b->rank == 1)
    for (int i = 0; i < l->count; ++i)
      MPI_Irecv(l->memory + (size_t)i * l->bytes, (int)l->bytes, MPI_BYTE, 0, tag_bulk,
                MPI_COMM_WORLD, &l->requests[i]);
  starting_line(b);
  const uint64_t start = now_ns();
  if (b->rank == 0) {
    for (int i = 0; i < l->count; ++i)
      MPI_Isend(l->memory + (size_t)i * l->bytes, (int)l->bytes, MPI_BYTE, 1, tag_bulk,
                MPI_COMM_WORLD, &l->requests[i]);
    MPI_Send(letter, sizeof letter, MPI_BYTE, 1, tag_small, small);
    MPI_Recv(letter, sizeof letter, MPI_BYTE, 1, tag_small, small, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(letter, sizeof letter, MPI_BYTE, 0, tag_small, small, MPI_STATUS_IGNORE);
    MPI_Send(letter, sizeof letter, MPI_BYTE, 0, tag_small, small);
  }
  *one = (double)(now_ns() - start) / 1000;
  MPI_Waitall(l->count, l->requests, MPI_STATUSES_IGNORE);
  *all = (double)(now_ns() - start) / 1000;
}

int main(int argc, char** argv) {
  static const char* const priorities[] = {"normal", "urgent"};
  struct bench b = {.name = "urgent",
                    .about =
                        "urgent: the time of a small message behind others of another "
                        "communicator.",
                    .thread_level = MPI_THREAD_SINGLE,
                    .ranks = 2,
                    .seconds = 0.5};
  struct list sizes = {.count = 0};
  list_read(&sizes, "1K,4K,64K,1M");
  double total = 16 << 20;
  const struct option own[] = {
      {"--sizes", option_list, &sizes, "bytes of a message in front"},
      {"--total", option_number, &total, "bytes in front of the small one"},
      {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  const struct column columns[] = {
      {"bytes", 0}, {"small_us", 1}, {"small_p99_us", 1}, {"all_us", 1}, {"repetitions", 0}};
  bench_table(&b, "priority", columns, 5);
  MPI_Comm comms[2] = {with_priority(priorities[0]), with_priority(priorities[1])};
  for (int i = 0; i < sizes.count; ++i) {
    struct load l = {.count = (int)(total / (double)sizes.value[i]), .bytes = sizes.value[i]};
    if (l.count < 1) l.count = 1;
    l.memory = buffer((size_t)l.count * l.bytes);
    l.requests = calloc((size_t)l.count, sizeof *l.requests);
    struct samples small[2] = {{0}}, all[2] = {{0}};
    double one_us = 0, all_us = 0;
    send_behind(&b, &l, comms[0], &one_us, &all_us);
    const long count = bench_repeat(&b, 2000 * all_us, 3, 1000);
    for (long n = 0; n < count; ++n) {
      for (int k = 0; k < 2; ++k) {
        send_behind(&b, &l, comms[k], &one_us, &all_us);
        samples_add(&small[k], one_us);
        samples_add(&all[k], all_us);
      }
    }
    for (int k = 0; k < 2; ++k) {
      const struct summary one = summarise(&small[k]), whole = summarise(&all[k]);
      table_row(&b.table, priorities[k],
                (double[]){(double)l.bytes, one.median, one.p99, whole.median, (double)count});
      samples_free(&small[k]);
      samples_free(&all[k]);
    }
    free(l.requests);
    free(l.memory);
  }
  for (int k = 0; k < 2; ++k) MPI_Comm_free(&comms[k]);
  return bench_finish(&b);
}
