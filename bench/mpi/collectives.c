/// Time of each collective operation by size, on any number of ranks: the blocking form, the
/// non-blocking one with a wait behind it, or the persistent one. Roots rotate. `bytes` is the
/// vector of bcast, reduce, allreduce and scan, and one block, for or from one rank, of the others.
/// Each call begins after a barrier, which is not timed, and takes as long as on its slowest rank.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum form { blocking, nonblocking, persistent };
static const char* const form_names[] = {"blocking", "nonblocking", "persistent"};

/// The arguments of one operation at one size.
struct call {
  int count;  ///< doubles of a block
  int root;
  double* from;
  double* into;
  MPI_Request* request;
};

/// `MPI_name(…)`, `MPI_Iname(…, request)` or `MPI_name_init(…, info, request)`.
#define OPERATION(name, upper, lower, ...)                                               \
  static void run_##name(const struct call* c, enum form form) {                         \
    if (form == blocking) MPI_##upper(__VA_ARGS__, MPI_COMM_WORLD);                      \
    else if (form == nonblocking) MPI_I##lower(__VA_ARGS__, MPI_COMM_WORLD, c->request); \
    else MPI_##upper##_init(__VA_ARGS__, MPI_COMM_WORLD, MPI_INFO_NULL, c->request);     \
  }
#define VECTOR c->from, c->into, c->count, MPI_DOUBLE
#define BLOCKS c->from, c->count, MPI_DOUBLE, c->into, c->count, MPI_DOUBLE

OPERATION(bcast, Bcast, bcast, c->from, c->count, MPI_DOUBLE, c->root)
OPERATION(reduce, Reduce, reduce, VECTOR, MPI_SUM, c->root)
OPERATION(allreduce, Allreduce, allreduce, VECTOR, MPI_SUM)
OPERATION(scan, Scan, scan, VECTOR, MPI_SUM)
OPERATION(reduce_scatter, Reduce_scatter_block, reduce_scatter_block, VECTOR, MPI_SUM)
OPERATION(gather, Gather, gather, BLOCKS, c->root)
OPERATION(scatter, Scatter, scatter, BLOCKS, c->root)
OPERATION(allgather, Allgather, allgather, BLOCKS)
OPERATION(alltoall, Alltoall, alltoall, BLOCKS)

static void run_barrier(const struct call* c, enum form form) {
  if (form == blocking) MPI_Barrier(MPI_COMM_WORLD);
  else if (form == nonblocking) MPI_Ibarrier(MPI_COMM_WORLD, c->request);
  else MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, c->request);
}

static const struct operation {
  const char* name;
  void (*run)(const struct call* c, enum form form);
  bool rooted;
} operations[] = {
    {"barrier", run_barrier, false},     {"bcast", run_bcast, true},
    {"reduce", run_reduce, true},        {"allreduce", run_allreduce, false},
    {"scan", run_scan, false},           {"redscat", run_reduce_scatter, false},
    {"gather", run_gather, true},        {"scatter", run_scatter, true},
    {"allgather", run_allgather, false}, {"alltoall", run_alltoall, false},
};
enum { operations_count = sizeof operations / sizeof *operations };

/// Runs the operation once and returns its microseconds. `requests`: the persistent ones, a root
/// each.
static double timed(const struct operation* o, struct call* c, enum form form,
                    MPI_Request* requests) {
  MPI_Barrier(MPI_COMM_WORLD);
  const uint64_t start = now_ns();
  if (form == persistent) {
    MPI_Start(&requests[c->root]);
    MPI_Wait(&requests[c->root], MPI_STATUS_IGNORE);
  } else {
    o->run(c, form);
    if (form == nonblocking) MPI_Wait(c->request, MPI_STATUS_IGNORE);
  }
  return (double)(now_ns() - start) / 1000;
}

static void measure(struct bench* b, const struct operation* o, enum form form, size_t bytes) {
  const int count = bytes < sizeof(double) ? 1 : (int)(bytes / sizeof(double));
  const size_t room = (size_t)count * sizeof(double) * (size_t)b->size;
  MPI_Request request = MPI_REQUEST_NULL;
  struct call c = {count, 0, buffer(room), buffer(room), &request};
  for (size_t i = 0; i < room / sizeof(double); ++i) c.from[i] = 1;
  const int roots = o->rooted ? b->size : 1;
  MPI_Request* requests = calloc((size_t)roots, sizeof(MPI_Request));
  for (c.root = 0; form == persistent && c.root < roots; ++c.root) {
    c.request = &requests[c.root];
    o->run(&c, form);
  }
  // The first calls may set up something that takes as long as hundreds of others.
  struct samples trials = {0};
  for (int i = 0; i < 2 * roots + 3; ++i) {
    c.root = i % roots;
    samples_add(&trials, timed(o, &c, form, requests));
  }
  const long rounds = bench_repeat(b, 1500 * median_of(&trials), 4 * (long)roots, 50000);
  struct samples samples = {0};
  for (long i = 0; i < rounds; ++i) {
    c.root = (int)(i % roots);
    samples_add(&samples, timed(o, &c, form, requests));
  }
  MPI_Allreduce(MPI_IN_PLACE, samples.value, (int)samples.count, MPI_DOUBLE, MPI_MAX,
                MPI_COMM_WORLD);
  const struct summary s = summarise(&samples);
  samples_free(&samples);
  table_row(&b->table, o->name,
            (double[]){b->size, (double)bytes, s.median, s.mean, s.best, (double)rounds});
  for (int i = 0; form == persistent && i < roots; ++i) MPI_Request_free(&requests[i]);
  free(requests);
  free(c.from);
  free(c.into);
}

static bool listed(const char* list, const char* name) {
  const size_t length = strlen(name);
  for (const char* at = list; (at = strstr(at, name)) != NULL; at += length)
    if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) return true;
  return false;
}

static enum form form_of(const char* name) {
  for (enum form form = blocking; form <= persistent; ++form)
    if (strcmp(name, form_names[form]) == 0) return form;
  fprintf(stderr, "collectives: --form is blocking, nonblocking or persistent, not '%s'\n", name);
  exit(2);
}

int main(int argc, char** argv) {
  struct bench b = {.name = "collectives",
                    .about = "collectives: time of each collective operation by size.",
                    .thread_level = MPI_THREAD_SINGLE,
                    .seconds = 0.1};
  struct list sizes = {.count = 0};
  list_read(&sizes, "8,1K,8K,64K,512K,4M");
  const char* form_name = form_names[blocking];
  const char* names =
      "barrier,bcast,reduce,allreduce,scan,redscat,gather,scatter,allgather,alltoall";
  const struct option own[] = {
      {"--sizes", option_list, &sizes, "bytes of the vector or of a block"},
      {"--form", option_text, &form_name, "blocking, nonblocking or persistent"},
      {"--operations", option_text, &names, "which, with commas between"},
      {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  const enum form form = form_of(form_name);
  const struct column columns[] = {{"ranks", 0},   {"bytes", 0},   {"median_us", 2},
                                   {"mean_us", 2}, {"best_us", 2}, {"calls", 0}};
  bench_table(&b, "operation", columns, 6);
  for (int o = 0; o < operations_count; ++o) {
    if (!listed(names, operations[o].name)) continue;
    const bool sized = operations[o].run != run_barrier;
    for (int i = 0; i < (sized ? sizes.count : 1); ++i)
      measure(&b, &operations[o], form, sized ? sizes.value[i] : 0);
  }
  return bench_finish(&b);
}
