/// Heat in a plate on several ranks. Each rank has a strip of rows, and exchanges a halo of one row
/// with each neighbour in every step.
///
///     mpiexec -n 4 ./heat --exchange nonblocking
///
/// --exchange blocking: MPI_Sendrecv with each neighbour, then compute all rows.
/// --exchange nonblocking: start the exchange, compute the rows that need no halo, wait, compute
/// the two rows that do. The arithmetic is the same, only the order of rows differs, so every bit
/// of the result is the same as with one process; --check verifies it.
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plate.h"

enum { tag_halo = 1 };

enum exchange { exchange_alone, exchange_in_turn, exchange_beside };

/// Their names on the command line.
static const char* const exchange_names[] = {"alone", "blocking", "nonblocking"};

struct settings {
  struct shape shape;
  int steps;
  enum exchange exchange;
  bool check;
  const char* csv;
};

/// Seconds of this rank, over all steps.
struct times {
  double computing, communicating, total;
};

struct strip {
  struct plate plate;
  int rank, ranks, above, below;  ///< the neighbours' ranks, MPI_PROC_NULL at the rim
};

// ---- the two kinds of exchange ------------------------------------------------------------------

/// Sends row `own` to a neighbour and receives its row into `theirs`, both directions at once.
static void exchange_with(struct strip* s, int neighbour, int own, int theirs) {
  const int length = plate_row_length(&s->plate);
  MPI_Sendrecv(plate_row(&s->plate, own), length, MPI_DOUBLE, neighbour, tag_halo,
               plate_row(&s->plate, theirs), length, MPI_DOUBLE, neighbour, tag_halo,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Even ranks begin below and odd ranks above, so that all links are busy, both ways.
static void exchange_blocking(struct strip* s) {
  const int rows = s->plate.rows;
  if (s->rank % 2 == 1) exchange_with(s, s->above, 1, 0);
  exchange_with(s, s->below, rows, rows + 1);
  if (s->rank % 2 == 0) exchange_with(s, s->above, 1, 0);
}

static void exchange_start(struct strip* s, MPI_Request requests[4]) {
  struct plate* p = &s->plate;
  const int length = plate_row_length(p);
  MPI_Irecv(plate_row(p, 0), length, MPI_DOUBLE, s->above, tag_halo, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(plate_row(p, p->rows + 1), length, MPI_DOUBLE, s->below, tag_halo, MPI_COMM_WORLD,
            &requests[1]);
  MPI_Isend(plate_row(p, 1), length, MPI_DOUBLE, s->above, tag_halo, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(plate_row(p, p->rows), length, MPI_DOUBLE, s->below, tag_halo, MPI_COMM_WORLD,
            &requests[3]);
}

static void step_blocking(struct strip* s, struct times* t) {
  const double start = MPI_Wtime();
  exchange_blocking(s);
  const double exchanged = MPI_Wtime();
  plate_advance(&s->plate, 1, s->plate.rows);
  t->communicating += exchanged - start;
  t->computing += MPI_Wtime() - exchanged;
}

static void step_nonblocking(struct strip* s, struct times* t) {
  MPI_Request requests[4];
  struct plate* p = &s->plate;
  const double start = MPI_Wtime();
  exchange_start(s, requests);
  const double started = MPI_Wtime();
  plate_advance(p, 2, p->rows - 1);
  const double inside_done = MPI_Wtime();
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  const double exchanged = MPI_Wtime();
  plate_advance(p, 1, 1);
  if (p->rows > 1) plate_advance(p, p->rows, p->rows);
  t->communicating += (started - start) + (exchanged - inside_done);
  t->computing += (inside_done - started) + (MPI_Wtime() - exchanged);
}

/// No computation: the time of the exchange alone.
static void step_alone(struct strip* s, struct times* t) {
  MPI_Request requests[4];
  const double start = MPI_Wtime();
  exchange_start(s, requests);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  t->communicating += MPI_Wtime() - start;
}

static void step(struct strip* s, enum exchange kind, struct times* t) {
  switch (kind) {
    case exchange_alone:
      step_alone(s, t);
      break;
    case exchange_in_turn:
      step_blocking(s, t);
      break;
    case exchange_beside:
      step_nonblocking(s, t);
      break;
  }
  if (kind != exchange_alone) plate_swap(&s->plate);
}

// ---- progress on the screen ---------------------------------------------------------------------

/// On a terminal one line that is rewritten; elsewhere a line after each tenth of the steps.
static void show_progress(const struct settings* settings, int step, double start) {
  static double last;
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  const double now = MPI_Wtime();
  const int tenth = settings->steps < 10 ? 1 : settings->steps / 10;
  if (step < settings->steps && (terminal ? now - last < 0.1 : step % tenth != 0)) return;
  last = now;
  printf("%sstep %d/%d, %.2f ms a step%s", terminal ? "\r" : "", step, settings->steps,
         1000 * (now - start) / step, terminal && step < settings->steps ? " " : "\n");
  fflush(stdout);
}

// ---- run, check, report -------------------------------------------------------------------------

static struct strip strip_of(const struct settings* settings) {
  struct strip s;
  MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
  const int rows = settings->shape.rows;
  const int first = (int)((long)rows * s.rank / s.ranks);
  const int last = (int)((long)rows * (s.rank + 1) / s.ranks);
  s.plate = plate_cut(settings->shape, first, last - first);
  s.above = s.rank > 0 ? s.rank - 1 : MPI_PROC_NULL;
  s.below = s.rank + 1 < s.ranks ? s.rank + 1 : MPI_PROC_NULL;
  return s;
}

static struct times run(struct strip* s, const struct settings* settings) {
  struct times t = {0};
  exchange_blocking(s);  // Opens the connections; it sends the same rows as the first step.
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int number = 1; number <= settings->steps; ++number) {
    step(s, settings->exchange, &t);
    if (s->rank == 0) show_progress(settings, number, start);
  }
  t.total = MPI_Wtime() - start;
  return t;
}

/// Whether rank 0, computing the whole plate alone, gets the same in every bit.
static bool as_serial(const struct settings* settings, uint64_t fingerprint) {
  struct plate p = plate_cut(settings->shape, 0, settings->shape.rows);
  for (int step = 0; step < settings->steps; ++step) {
    plate_advance(&p, 1, p.rows);
    plate_swap(&p);
  }
  const bool same = plate_fingerprint(&p) == fingerprint;
  plate_free(&p);
  return same;
}

static bool report(const struct strip* s, const struct settings* settings, const struct times* t) {
  const double mine[] = {t->computing, t->communicating, t->total, plate_heat(&s->plate)};
  double sum[4];
  uint64_t fingerprint = plate_fingerprint(&s->plate), whole = 0;
  MPI_Reduce(mine, sum, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&fingerprint, &whole, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (s->rank != 0) return true;
  const double scale = 1000.0 / s->ranks / settings->steps;
  const double halo_mb = plate_row_length(&s->plate) * sizeof(double) * 1e-6;
  const char* kind = exchange_names[settings->exchange];
  const bool checks = settings->check && settings->exchange != exchange_alone;
  const bool same = !checks || as_serial(settings, whole);
  const char* verdict = !checks ? "not checked" : same ? "serial result" : "WRONG";
  printf(
      "%s exchange, %d ranks, halo %.2f MB: a step takes %.2f ms = computation %.2f + "
      "communication %.2f; heat %.6g; fingerprint %016" PRIx64 " (%s)\n",
      kind, s->ranks, halo_mb, sum[2] * scale, sum[0] * scale, sum[1] * scale, sum[3], whole,
      verdict);
  FILE* file = settings->csv != NULL ? fopen(settings->csv, "w") : NULL;
  if (file != NULL) {
    fprintf(file,
            "exchange,ranks,halo_bytes,steps,computation_ms,communication_ms,total_ms,check\n"
            "%s,%d,%.0f,%d,%.6f,%.6f,%.6f,%s\n",
            kind, s->ranks, halo_mb * 1e6, settings->steps, sum[0] * scale, sum[1] * scale,
            sum[2] * scale, verdict);
    fclose(file);
  } else if (settings->csv != NULL) {
    perror(settings->csv);
  }
  return same;
}

static void usage(void) {
  printf(
      "heat: heat in a laminated plate, on any number of ranks.\n\n"
      "  --columns N, --rows N, --layers N   the plate [4096, 96, 64]; every rank needs 2 rows\n"
      "  --steps N                           time steps [50]\n"
      "  --exchange KIND                     how halos are exchanged [nonblocking]:\n"
      "      blocking      the halos first, then the computation\n"
      "      nonblocking   the halos during the computation of the inner rows\n"
      "      alone         the halos without a computation\n"
      "  --check                             compare every bit with the serial result\n"
      "  --csv FILE                          write the times of a step to this file\n\n"
      "A halo is columns * layers * 8 bytes (2 MB), a plate needs twice rows times that.\n");
}

static bool exchange_read(enum exchange* kind, const char* text) {
  for (int i = exchange_alone; i <= exchange_beside; ++i) {
    if (strcmp(text, exchange_names[i]) != 0) continue;
    *kind = (enum exchange)i;
    return true;
  }
  return false;
}

/// Errors: false, after a message, for an unknown option or value.
static bool read_settings(struct settings* s, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    int* number = strcmp(argv[i], "--columns") == 0  ? &s->shape.columns
                  : strcmp(argv[i], "--rows") == 0   ? &s->shape.rows
                  : strcmp(argv[i], "--layers") == 0 ? &s->shape.layers
                  : strcmp(argv[i], "--steps") == 0  ? &s->steps
                                                     : NULL;
    if (strcmp(argv[i], "--check") == 0) {
      s->check = true;
      continue;
    }
    ++i;
    if (number != NULL && atoi(value) > 0) {
      *number = atoi(value);
    } else if (strcmp(argv[i - 1], "--csv") == 0 && *value != '\0') {
      s->csv = value;
    } else if (strcmp(argv[i - 1], "--exchange") == 0 && exchange_read(&s->exchange, value)) {
      continue;
    } else {
      fprintf(stderr, "heat: cannot understand '%s %s'\n", argv[i - 1], value);
      return false;
    }
  }
  return true;
}

int main(int argc, char** argv) {
  struct settings settings = {.shape = {.rows = 96, .columns = 4096, .layers = 64},
                              .steps = 50,
                              .exchange = exchange_beside};
  if (argc > 1 && strcmp(argv[1], "--help") == 0) {
    usage();
    return 0;
  }
  if (!read_settings(&settings, argc, argv)) return 2;
  MPI_Init(&argc, &argv);
  struct strip s = strip_of(&settings);
  bool right = false;
  if (settings.shape.rows < 2 * s.ranks) {
    if (s.rank == 0) fprintf(stderr, "heat: every rank needs 2 rows\n");
  } else {
    const struct times t = run(&s, &settings);
    right = report(&s, &settings, &t);
  }
  plate_free(&s.plate);
  MPI_Finalize();
  return right ? 0 : 1;
}
