/* Goal: reductions combine every contribution once, in the order of ranks if the operator requires
 * it, in blocking, non-blocking and persistent form, in place or not, also on derived types.
 * Method: operands are maps x -> a x + b, whose composition does not commute; and sums. */
#include "patterns.h"

typedef struct {
  unsigned a, b;
} map;

static map map_of(int rank, int i) {
  return (map){(unsigned)(rank * 7 + i * 13) * 2654435761u | 1u, (unsigned)(rank * 31 + i + 1)};
}

static map compose(map l, map r) { return (map){l.a * r.a, l.a * r.b + l.b}; }

/* Each map lies in the first 8 of 12 bytes. */
typedef struct {
  map value;
  unsigned gap;
} spaced;

static void compose_spaced(void* in, void* inout, int* len, MPI_Datatype* type) {
  MPI_Aint lb, extent;
  MPI_Type_get_extent(*type, &lb, &extent);
  CHECK(extent == (MPI_Aint)sizeof(spaced), "the function was given a type of extent %ld",
        (long)extent);
  spaced *l = in, *r = inout;
  for (int i = 0; i < *len; ++i) r[i].value = compose(l[i].value, r[i].value);
}

static MPI_Datatype spaced_type;
static MPI_Op composition;
static int n; /* elements */

static map expected(int first, int last, int i) {
  map m = map_of(first, i);
  for (int rank = first + 1; rank <= last; ++rank) m = compose(m, map_of(rank, i));
  return m;
}

static spaced* operands(void) {
  spaced* s = malloc(sizeof(spaced) * (size_t)(n + 1));
  for (int i = 0; i < n; ++i) s[i] = (spaced){map_of(check_rank, i), 0xabcdefu};
  return s;
}

static spaced* results(void) {
  spaced* s = malloc(sizeof(spaced) * (size_t)(n + 1));
  for (int i = 0; i < n; ++i) s[i] = (spaced){{0, 0}, 0x123u};
  return s;
}

static void check_results(const spaced* s, int begin, int count, int first, int last,
                          const char* what) {
  for (int i = 0; i < count; ++i) {
    const map e = expected(first, last, begin + i);
    CHECK(s[i].value.a == e.a && s[i].value.b == e.b, "%s, %d elements, element %d", what, n, i);
    CHECK(s[i].gap == 0x123u || s[i].gap == 0xabcdefu, "%s wrote between elements", what);
  }
}

static void in_order(int in_place) {
  const int last = check_size - 1;
  for (int root = 0; root < check_size; ++root) {
    spaced *s = operands(), *r = in_place && check_rank == root ? operands() : results();
    CHECK_OK(MPI_Reduce(in_place && check_rank == root ? MPI_IN_PLACE : s, r, n, spaced_type,
                        composition, root, MPI_COMM_WORLD));
    if (check_rank == root) check_results(r, 0, n, 0, last, "reduce");
    free(s);
    free(r);
  }
  spaced *s = operands(), *r = in_place ? operands() : results();
  const void* send = in_place ? MPI_IN_PLACE : s;
  CHECK_OK(MPI_Allreduce(send, r, n, spaced_type, composition, MPI_COMM_WORLD));
  check_results(r, 0, n, 0, last, "allreduce");
  free(r);
  r = in_place ? operands() : results();
  CHECK_OK(MPI_Scan(send, r, n, spaced_type, composition, MPI_COMM_WORLD));
  check_results(r, 0, n, 0, check_rank, "scan");
  free(r);
  r = in_place ? operands() : results();
  CHECK_OK(MPI_Exscan(send, r, n, spaced_type, composition, MPI_COMM_WORLD));
  if (check_rank > 0) check_results(r, 0, n, 0, check_rank - 1, "exscan");
  free(r);
  free(s);
}

static void scattered(int in_place) {
  int *counts = malloc(sizeof(int) * (size_t)check_size), total = 0, begin = 0;
  for (int i = 0; i < check_size; ++i) {
    counts[i] = n * (i % 3);
    if (i < check_rank) begin += counts[i];
    total += counts[i];
  }
  const int each = n;
  n = total;
  spaced *s = operands(), *r = in_place ? operands() : results();
  CHECK_OK(MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : s, r, counts, spaced_type, composition,
                              MPI_COMM_WORLD));
  check_results(r, begin, counts[check_rank], 0, check_size - 1, "reduce_scatter");
  free(s);
  free(r);
  n = each * check_size;
  s = operands();
  r = in_place ? operands() : results();
  CHECK_OK(MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : s, r, each, spaced_type, composition,
                                    MPI_COMM_WORLD));
  check_results(r, each * check_rank, each, 0, check_size - 1, "reduce_scatter_block");
  free(s);
  free(r);
  free(counts);
  n = each;
}

/* The type and the operator are freed while the operation is under way. */
static void freed_early(void) {
  MPI_Datatype type;
  MPI_Op op;
  MPI_Type_dup(spaced_type, &type);
  MPI_Op_create(compose_spaced, 0, &op);
  spaced *s = operands(), *r = results();
  MPI_Request request;
  CHECK_OK(MPI_Iallreduce(s, r, n, type, op, MPI_COMM_WORLD, &request));
  MPI_Type_free(&type);
  MPI_Op_free(&op);
  CHECK(type == MPI_DATATYPE_NULL && op == MPI_OP_NULL, "handles become null");
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  check_results(r, 0, n, 0, check_size - 1, "iallreduce with freed type and operator");
  free(s);
  free(r);
}

static void sums(long count) {
  double *s = malloc(sizeof(double) * (size_t)(count + 1)),
         *r = malloc(sizeof(double) * (size_t)(count + 1));
  for (long i = 0; i < count; ++i) s[i] = check_rank + (double)(i % 1000);
  MPI_Request request;
  CHECK_OK(MPI_Allreduce_init(s, r, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                              &request));
  for (int again = 0; again < 3; ++again) {
    for (long i = 0; i < count; ++i) r[i] = -1;
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (long i = 0; i < count; ++i)
      CHECK(r[i] == check_size * (check_size - 1) / 2 + check_size * (double)(i % 1000),
            "sum of %ld, element %ld is %g", count, i, r[i]);
  }
  CHECK_OK(MPI_Request_free(&request));
  const int root = (int)(count % check_size);
  for (long i = 0; i < count; ++i) r[i] = -1;
  CHECK_OK(MPI_Reduce(s, r, (int)count, MPI_DOUBLE, MPI_MAX, root, MPI_COMM_WORLD));
  for (long i = 0; check_rank == root && i < count; ++i)
    CHECK(r[i] == check_size - 1 + (double)(i % 1000), "max of %ld, element %ld", count, i);
  free(s);
  free(r);
}

static void extremes(void) {
  struct {
    double value;
    int index;
  } mine = {(double)((check_rank * 5) % check_size), check_rank}, most, least;
  CHECK_OK(MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
  CHECK_OK(MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD));
  CHECK(least.value == 0 && least.index == 0, "minloc gives %g at %d", least.value, least.index);
  CHECK((most.index * 5) % check_size == (int)most.value, "maxloc gives %g at %d", most.value,
        most.index);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
  MPI_Type_create_resized(pair, 0, sizeof(spaced), &spaced_type);
  MPI_Type_commit(&spaced_type);
  MPI_Type_free(&pair);
  MPI_Op_create(compose_spaced, 0, &composition);
  const int tried[] = {0, 1, 5, 600, 5000};
  for (int t = 0; t < 5; ++t) {
    for (int in_place = 0; in_place < 2; ++in_place) {
      n = tried[t];
      in_order(in_place);
      scattered(in_place);
    }
    freed_early();
  }
  for (long count = 1; count < 16; ++count) sums(count); /* in lines, and not any more */
  for (long count = 57; count < 300000; count = count * 7 + 1) sums(count);
  extremes();
  MPI_Op_free(&composition);
  MPI_Type_free(&spaced_type);
  return check_end("reducing");
}
