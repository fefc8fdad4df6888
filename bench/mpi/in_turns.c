/// Ping-pong in two ways in turns, within one run: as usual, and in another way that should not
/// cost anything. A ratio near 1 is only visible so: two runs differ by more.
/// `inter`: through an inter-communicator of two groups of one rank. `mpi_t`: with the tool
/// information interface initialised, and no event handled. `mpi_t_pvar`: also with a handle of
/// each performance variable, started where it can be.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { handles_max = 1024 };

struct pair {
  MPI_Comm comm;
  int peer;  ///< in `comm`
  int rank;
  size_t bytes;
  char* memory;
};

/// What a case does before a sample in the other way, and after it.
struct other_way {
  const char* name;
  void (*begin)(struct pair* p);
  void (*end)(struct pair* p);
};

static MPI_Comm intercommunicator;
static MPI_T_pvar_session session;

static void through_intercommunicator(struct pair* p) {
  p->comm = intercommunicator;
  p->peer = 0;
}

static void through_world(struct pair* p) {
  p->comm = MPI_COMM_WORLD;
  p->peer = 1 - p->rank;
}

static void initialise_tools(struct pair* p) {
  (void)p;
  int provided;
  MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
}

static void finalise_tools(struct pair* p) {
  (void)p;
  MPI_T_finalize();
}

/// A handle of each variable that is bound to nothing or to a communicator.
static void read_variables(struct pair* p) {
  initialise_tools(p);
  MPI_T_pvar_session_create(&session);
  int count = 0;
  MPI_T_pvar_get_num(&count);
  for (int i = 0, made = 0; i < count && made < handles_max; ++i) {
    char name[256], about[1024];
    int name_length = sizeof name, about_length = sizeof about;
    int verbosity, class, bind, readonly, continuous, atomic, elements;
    MPI_Datatype type;
    MPI_T_enum values;
    if (MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &values, about,
                            &about_length, &bind, &readonly, &continuous, &atomic) != MPI_SUCCESS)
      continue;
    if (bind != MPI_T_BIND_NO_OBJECT && bind != MPI_T_BIND_MPI_COMM) continue;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_handle handle;
    if (MPI_T_pvar_handle_alloc(session, i, &world, &handle, &elements) == MPI_SUCCESS) {
      ++made;
      if (!continuous) MPI_T_pvar_start(session, handle);
    }
  }
}

static void stop_reading(struct pair* p) {
  MPI_T_pvar_session_free(&session);  // with its handles
  finalise_tools(p);
}

static const struct other_way ways[] = {
    {"inter", through_intercommunicator, through_world},
    {"mpi_t", initialise_tools, finalise_tools},
    {"mpi_t_pvar", read_variables, stop_reading},
};
enum { ways_count = sizeof ways / sizeof *ways };

/// Microseconds one way, the mean of `count` round trips.
static double one_way_us(const struct pair* p, long count) {
  const int bytes = (int)p->bytes;
  const uint64_t start = now_ns();
  for (long i = 0; i < count; ++i) {
    if (p->rank == 0) MPI_Send(p->memory, bytes, MPI_BYTE, p->peer, 0, p->comm);
    MPI_Recv(p->memory, bytes, MPI_BYTE, p->peer, 0, p->comm, MPI_STATUS_IGNORE);
    if (p->rank == 1) MPI_Send(p->memory, bytes, MPI_BYTE, p->peer, 0, p->comm);
  }
  return (double)(now_ns() - start) / 2000 / (double)count;
}

static double other_us(struct pair* p, const struct other_way* w, long count) {
  w->begin(p);
  MPI_Barrier(MPI_COMM_WORLD);
  one_way_us(p, 10);
  const double us = one_way_us(p, count);
  w->end(p);
  return us;
}

static double plain_us(const struct pair* p, long count) {
  MPI_Barrier(MPI_COMM_WORLD);
  one_way_us(p, 10);
  return one_way_us(p, count);
}

static void measure(struct bench* b, const struct other_way* w, size_t bytes) {
  struct pair p = {.rank = b->rank, .bytes = bytes, .memory = buffer(bytes)};
  through_world(&p);
  const double trial_us = plain_us(&p, 1000);
  long batch = trial_us < 50 ? (long)(100 / (trial_us < 0.01 ? 0.01 : trial_us)) : 2;
  MPI_Bcast(&batch, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  const long rounds = bench_repeat(b, 4500 * trial_us * (double)batch, 10, 100000);
  struct samples plain = {0}, other = {0}, ratios = {0};
  for (long i = 0; i < rounds; ++i) {
    double first = 0, second = 0;
    if (i % 2 == 0) first = plain_us(&p, batch);
    second = other_us(&p, w, batch);
    if (i % 2 == 1) first = plain_us(&p, batch);
    samples_add(&plain, first);
    samples_add(&other, second);
    samples_add(&ratios, second / first);
  }
  table_row(&b->table, w->name,
            (double[]){(double)bytes, summarise(&other).median, summarise(&plain).median,
                       summarise(&ratios).median, (double)rounds});
  samples_free(&plain);
  samples_free(&other);
  samples_free(&ratios);
  free(p.memory);
}

int main(int argc, char** argv) {
  struct bench b = {.name = "in_turns",
                    .about = "in_turns: ping-pong as usual and in another way, in turns.",
                    .thread_level = MPI_THREAD_SINGLE,
                    .ranks = 2,
                    .seconds = 0.5};
  struct list sizes = {.count = 0};
  list_read(&sizes, "8");
  const char* only = "";
  const struct option own[] = {
      {"--sizes", option_list, &sizes, "bytes of a message"},
      {"--way", option_text, &only, "inter, mpi_t or mpi_t_pvar; empty: each"},
      {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - b.rank, 0, &intercommunicator);
  const struct column columns[] = {
      {"bytes", 0}, {"median_us", 3}, {"plain_us", 3}, {"ratio", 4}, {"rounds", 0}};
  bench_table(&b, "way", columns, 5);
  for (int i = 0; i < ways_count; ++i)
    for (int s = 0; s < sizes.count; ++s)
      if (*only == '\0' || strcmp(only, ways[i].name) == 0) measure(&b, &ways[i], sizes.value[s]);
  MPI_Comm_free(&intercommunicator);
  return bench_finish(&b);
}
