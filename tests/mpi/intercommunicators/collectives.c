/* Goal: every collective operation on inter-communicators gives what the standard says: blocking,
 * non-blocking and persistent, by every root of both groups, with several types and counts.
 * Method: what a process contributes is known by its rank in the world; results are computed
 * serially from that. */
#include <limits.h>

#include "forms.h"
#include "patterns.h"
#include "two_groups.h"

struct test {
  const struct two_groups* g;
  const struct layout *from, *to;
  int count;
  enum form form;
  int rank;          /* mine in my group */
  int size, remotes; /* of my group and of the other one */
  const int* others; /* the world's ranks of the other group */
  const int* own;
};

static int root_argument(const struct test* t, int side, int root) {
  if (t->g->is_second != side) return root;
  return t->rank == root ? MPI_ROOT : MPI_PROC_NULL;
}

static void test_bcast(const struct test* t, int side, int root) {
  const int argument = root_argument(t, side, root);
  const struct layout* l = argument == MPI_ROOT ? t->from : t->to;
  long* data = new_buffer(l, t->count);
  if (argument == MPI_ROOT) fill(data, l, 0, t->count, check_rank, 1);
  if (argument == MPI_PROC_NULL)
    RUN(t->form, Bcast, Ibcast, NULL, 0, MPI_DATATYPE_NULL, argument, t->g->inter);
  else RUN(t->form, Bcast, Ibcast, data, t->count, l->type, argument, t->g->inter);
  if (argument >= 0) CHECK(holds(data, l, 0, t->count, t->others[root], 1), "of root %d", root);
  free(data);
}

static void test_gather(const struct test* t, int side, int root) {
  const int argument = root_argument(t, side, root);
  long *mine = new_buffer(t->from, t->count), *all = new_buffer(t->to, (long)t->count * t->remotes);
  fill(mine, t->from, 0, t->count, check_rank, 2);
  if (argument == MPI_PROC_NULL)
    RUN(t->form, Gather, Igather, NULL, 0, MPI_DATATYPE_NULL, NULL, 0, MPI_DATATYPE_NULL, argument,
        t->g->inter);
  else if (argument == MPI_ROOT)
    RUN(t->form, Gather, Igather, NULL, 0, MPI_DATATYPE_NULL, all, t->count, t->to->type, argument,
        t->g->inter);
  else
    RUN(t->form, Gather, Igather, mine, t->count, t->from->type, NULL, 0, MPI_DATATYPE_NULL,
        argument, t->g->inter);
  for (int i = 0; argument == MPI_ROOT && i < t->remotes; ++i)
    CHECK(holds(all, t->to, (long)i * t->count, t->count, t->others[i], 2), "of rank %d", i);
  free(mine);
  free(all);
}

static void test_scatter(const struct test* t, int side, int root) {
  const int argument = root_argument(t, side, root);
  long *mine = new_buffer(t->to, t->count), *all = new_buffer(t->from, (long)t->count * t->remotes);
  for (int i = 0; i < t->remotes; ++i)
    fill(all, t->from, (long)i * t->count, t->count, check_rank, i);
  if (argument == MPI_PROC_NULL)
    RUN(t->form, Scatter, Iscatter, NULL, 0, MPI_DATATYPE_NULL, NULL, 0, MPI_DATATYPE_NULL,
        argument, t->g->inter);
  else if (argument == MPI_ROOT)
    RUN(t->form, Scatter, Iscatter, all, t->count, t->from->type, NULL, 0, MPI_DATATYPE_NULL,
        argument, t->g->inter);
  else
    RUN(t->form, Scatter, Iscatter, NULL, 0, MPI_DATATYPE_NULL, mine, t->count, t->to->type,
        argument, t->g->inter);
  if (argument >= 0)
    CHECK(holds(mine, t->to, 0, t->count, t->others[root], t->rank), "block %d", t->rank);
  free(mine);
  free(all);
}

/* The v forms: rank i has or gets i elements more, blocks in reverse order with gaps. */
struct row {
  int *counts, *places;
  long total;
};
static struct row new_row(const struct test* t) {
  struct row r = {malloc(sizeof(int) * (size_t)t->remotes),
                  malloc(sizeof(int) * (size_t)t->remotes), 0};
  for (int i = t->remotes; i-- > 0;) {
    r.counts[i] = t->count + i;
    r.places[i] = (int)r.total;
    r.total += r.counts[i] + 2;
  }
  return r;
}
static void free_row(struct row* r) {
  free(r->counts);
  free(r->places);
}

static void test_gatherv_scatterv(const struct test* t, int side, int root) {
  const int argument = root_argument(t, side, root), count = t->count + t->rank;
  struct row r = new_row(t);
  long *mine = new_buffer(t->from, count), *back = new_buffer(t->from, count);
  long* all = new_buffer(t->to, r.total);
  fill(mine, t->from, 0, count, check_rank, 3);
  RUN(t->form, Gatherv, Igatherv, mine, count, t->from->type, all, r.counts, r.places, t->to->type,
      argument, t->g->inter);
  for (int i = 0; argument == MPI_ROOT && i < t->remotes; ++i)
    CHECK(holds(all, t->to, r.places[i], r.counts[i], t->others[i], 3), "of rank %d", i);
  RUN(t->form, Scatterv, Iscatterv, all, r.counts, r.places, t->to->type, back, count,
      t->from->type, argument, t->g->inter);
  if (argument >= 0) CHECK(holds(back, t->from, 0, count, check_rank, 3), "scattered again");
  free(mine);
  free(back);
  free(all);
  free_row(&r);
}

static void test_allgather(const struct test* t) {
  long *mine = new_buffer(t->from, t->count), *all = new_buffer(t->to, (long)t->count * t->remotes);
  fill(mine, t->from, 0, t->count, check_rank, 4);
  RUN(t->form, Allgather, Iallgather, mine, t->count, t->from->type, all, t->count, t->to->type,
      t->g->inter);
  for (int i = 0; i < t->remotes; ++i)
    CHECK(holds(all, t->to, (long)i * t->count, t->count, t->others[i], 4), "of rank %d", i);
  free(mine);
  free(all);
  const int count = t->count + t->rank;
  struct row r = new_row(t);
  mine = new_buffer(t->from, count);
  all = new_buffer(t->to, r.total);
  fill(mine, t->from, 0, count, check_rank, 5);
  RUN(t->form, Allgatherv, Iallgatherv, mine, count, t->from->type, all, r.counts, r.places,
      t->to->type, t->g->inter);
  for (int i = 0; i < t->remotes; ++i)
    CHECK(holds(all, t->to, r.places[i], r.counts[i], t->others[i], 5), "v, of rank %d", i);
  free(mine);
  free(all);
  free_row(&r);
}

/* One group sends, the other receives: the counts of a direction are the same on both sides. */
static void test_one_way(const struct test* t) {
  const int sent = t->g->is_second ? 0 : t->count, received = t->g->is_second ? t->count : 0;
  long *mine = new_buffer(t->from, t->count), *all = new_buffer(t->to, (long)t->count * t->remotes);
  fill(mine, t->from, 0, t->count, check_rank, 6);
  RUN(t->form, Allgather, Iallgather, mine, sent, t->from->type, all, received, t->to->type,
      t->g->inter);
  for (int i = 0; i < t->remotes; ++i)
    CHECK(holds(all, t->to, (long)i * received, received, t->others[i], 6), "of rank %d", i);
  free(mine);
  free(all);
}

static void test_alltoall(const struct test* t) {
  long* out = new_buffer(t->from, (long)t->count * t->remotes);
  long* in = new_buffer(t->to, (long)t->count * t->remotes);
  for (int i = 0; i < t->remotes; ++i)
    fill(out, t->from, (long)i * t->count, t->count, check_rank, i);
  RUN(t->form, Alltoall, Ialltoall, out, t->count, t->from->type, in, t->count, t->to->type,
      t->g->inter);
  for (int i = 0; i < t->remotes; ++i)
    CHECK(holds(in, t->to, (long)i * t->count, t->count, t->others[i], t->rank), "of rank %d", i);
  free(out);
  free(in);

  const int n = t->remotes;
  int *counts = malloc(sizeof(int) * (size_t)n), *places = malloc(sizeof(int) * (size_t)n);
  int *in_bytes = malloc(sizeof(int) * (size_t)n), *out_bytes = malloc(sizeof(int) * (size_t)n);
  MPI_Datatype *ins = malloc(sizeof(MPI_Datatype) * (size_t)n),
               *outs = malloc(sizeof(MPI_Datatype) * (size_t)n);
  const int most = t->count + t->size + t->remotes;
  for (int i = 0; i < n; ++i) {
    counts[i] = t->count + (i + t->rank) % 3;
    places[i] = i * most;
    in_bytes[i] = places[i] * (int)t->to->stride * (int)sizeof(long);
    out_bytes[i] = places[i] * (int)t->from->stride * (int)sizeof(long);
    ins[i] = t->to->type;
    outs[i] = t->from->type;
  }
  out = new_buffer(t->from, (long)most * n);
  in = new_buffer(t->to, (long)most * n);
  for (int i = 0; i < n; ++i) fill(out, t->from, places[i], counts[i], check_rank, i);
  RUN(t->form, Alltoallv, Ialltoallv, out, counts, places, t->from->type, in, counts, places,
      t->to->type, t->g->inter);
  for (int i = 0; i < n; ++i)
    CHECK(holds(in, t->to, places[i], counts[i], t->others[i], t->rank), "v, of rank %d", i);
  free(in);
  in = new_buffer(t->to, (long)most * n);
  RUN(t->form, Alltoallw, Ialltoallw, out, counts, out_bytes, outs, in, counts, in_bytes, ins,
      t->g->inter);
  for (int i = 0; i < n; ++i)
    CHECK(holds(in, t->to, places[i], counts[i], t->others[i], t->rank), "w, of rank %d", i);
  free(out);
  free(in);
  free(counts);
  free(places);
  free(in_bytes);
  free(out_bytes);
  free(ins);
  free(outs);
}

/* The matrices (1 a; 0 1) and (1 b; 0 2): multiplied modulo a prime, which does not commute. */
static void multiply(void* left, void* right, int* count, MPI_Datatype* type) {
  const long* a = left;
  long* b = right;
  for (int i = 0; i < *count; ++i, a += 2, b += 2) {
    const long x = (a[0] + a[1] * b[0]) % 10007, y = a[1] * b[1] % 10007;
    b[0] = x;
    b[1] = y;
  }
  (void)type;
}

static long addend(int world_rank, long i) { return (world_rank + 1) * (i % 7 + 1); }

/* What the members of a group give for element i. */
static long sum_of(const int* world_ranks, int size, long i) {
  long sum = 0;
  for (int r = 0; r < size; ++r) sum += addend(world_ranks[r], i);
  return sum;
}

static void fill_addends(long* data, const struct layout* l, long count) {
  for (long i = 0; i < count; ++i) *element(data, l, i) = addend(check_rank, i);
}

static int has_sums(long* data, const struct layout* l, long first, long count, const int* group,
                    int size) {
  for (long i = 0; i < count; ++i)
    if (*element(data, l, i) != sum_of(group, size, first + i)) return 0;
  return 1;
}

static void test_reductions(const struct test* t) {
  const struct layout* l = t->from; /* MPI_LONG: operators are defined on predefined types */
  long *mine = new_buffer(l, t->count), *result = new_buffer(l, t->count);
  fill_addends(mine, l, t->count);
  RUN(t->form, Allreduce, Iallreduce, mine, result, t->count, l->type, MPI_SUM, t->g->inter);
  CHECK(has_sums(result, l, 0, t->count, t->others, t->remotes), "allreduce");
  free(mine);
  free(result);

  /* Blocks of equal length: both groups reduce as many elements. */
  const int whole = t->size * t->remotes * t->count;
  mine = new_buffer(l, whole);
  result = new_buffer(l, whole);
  fill_addends(mine, l, whole);
  RUN(t->form, Reduce_scatter_block, Ireduce_scatter_block, mine, result, t->remotes * t->count,
      l->type, MPI_SUM, t->g->inter);
  CHECK(has_sums(result, l, (long)t->rank * t->remotes * t->count, t->remotes * t->count, t->others,
                 t->remotes),
        "reduce_scatter_block");
  int* counts = malloc(sizeof(int) * (size_t)t->size);
  long first = 0, sum = 0;
  for (int i = 0; i < t->size; ++i) {
    counts[i] = i + 1 < t->size ? t->remotes * t->count / (i + 1) : (int)(whole - sum);
    if (i < t->rank) first += counts[i];
    sum += counts[i];
  }
  RUN(t->form, Reduce_scatter, Ireduce_scatter, mine, result, counts, l->type, MPI_SUM,
      t->g->inter);
  CHECK(has_sums(result, l, first, counts[t->rank], t->others, t->remotes), "reduce_scatter");
  free(counts);
  free(mine);
  free(result);
}

static void test_reduce(const struct test* t, int side, int root) {
  const int argument = root_argument(t, side, root);
  const struct layout* l = t->from;
  long *mine = new_buffer(l, t->count), *result = new_buffer(l, t->count);
  fill_addends(mine, l, t->count);
  if (argument == MPI_PROC_NULL)
    RUN(t->form, Reduce, Ireduce, NULL, NULL, 0, MPI_DATATYPE_NULL, MPI_OP_NULL, argument,
        t->g->inter);
  else
    RUN(t->form, Reduce, Ireduce, argument == MPI_ROOT ? NULL : mine, result, t->count, l->type,
        MPI_SUM, argument, t->g->inter);
  if (argument == MPI_ROOT)
    CHECK(has_sums(result, l, 0, t->count, t->others, t->remotes), "reduce to %d", root);
  free(mine);
  free(result);
}

/* In the order of the remote group's ranks. */
static void test_order(const struct test* t) {
  MPI_Datatype pair;
  MPI_Op op;
  MPI_Type_contiguous(2, MPI_LONG, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(multiply, 0, &op);
  long mine[2] = {check_rank + 1, check_rank + 2}, result[2] = {0, 0}, expected[2], one[2];
  RUN(t->form, Allreduce, Iallreduce, mine, result, 1, pair, op, t->g->inter);
  int count = 1;
  for (int i = t->remotes; i-- > 0;) {
    one[0] = t->others[i] + 1;
    one[1] = t->others[i] + 2;
    if (i == t->remotes - 1) memcpy(expected, one, sizeof one);
    else multiply(one, expected, &count, &pair);
  }
  CHECK(!memcmp(result, expected, sizeof result), "%ld %ld, not %ld %ld", result[0], result[1],
        expected[0], expected[1]);
  MPI_Op_free(&op);
  MPI_Type_free(&pair);
}

static void test_barrier(const struct test* t) {
  MPI_Request r;
  if (t->form == blocking) CHECK_OK(MPI_Barrier(t->g->inter));
  if (t->form == nonblocking) {
    CHECK_OK(MPI_Ibarrier(t->g->inter, &r));
    CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
  }
}

/* Many operations under way at once, completed in another order. */
static void test_together(const struct test* t) {
  enum { many = 12 };
  MPI_Request requests[many];
  long in[many], out[many][64];
  for (int i = 0; i < many; ++i) {
    in[i] = value_of(check_rank, i, 0);
    if (i % 3 == 0)
      MPI_Iallgather(&in[i], 1, MPI_LONG, out[i], 1, MPI_LONG, t->g->inter, &requests[i]);
    else if (i % 3 == 1)
      MPI_Iallreduce(&in[i], out[i], 1, MPI_LONG, MPI_MAX, t->g->inter, &requests[i]);
    else MPI_Ibarrier(t->g->inter, &requests[i]);
  }
  for (int i = many; i-- > 0;) CHECK_OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
  long most = LONG_MIN;
  for (int r = 0; r < t->remotes; ++r) most = t->others[r] > most ? t->others[r] : most;
  for (int i = 0; i < many; ++i) {
    for (int r = 0; i % 3 == 0 && r < t->remotes; ++r)
      CHECK(out[i][r] == value_of(t->others[r], i, 0), "operation %d", i);
    if (i % 3 == 1) CHECK(out[i][0] == value_of((int)most, i, 0), "operation %d", i);
  }
}

int main(int argc, char** argv) {
  struct layout layouts[LAYOUTS];
  const int counts[] = {0, 1, 5, 3000};
  check_start(&argc, &argv);
  make_layouts(layouts);
  for (int division = 0; division < DIVISIONS; ++division) {
    struct two_groups g = make_groups(division);
    const int other = !g.is_second;
    struct test t = {.g = &g,
                     .size = g.size[g.is_second],
                     .remotes = g.size[other],
                     .own = g.world_rank[g.is_second],
                     .others = g.world_rank[other]};
    MPI_Comm_rank(g.inter, &t.rank);
    for (int c = 0; c < 4; ++c)
      for (t.form = blocking; t.form < forms; ++t.form) {
        t.count = counts[c];
        t.from = &layouts[(c + division) % LAYOUTS];
        t.to = &layouts[(c + division + (int)t.form) % LAYOUTS];
        for (int side = 0; side < 2; ++side)
          for (int root = 0; root < g.size[side]; ++root) {
            test_bcast(&t, side, root);
            test_gather(&t, side, root);
            test_scatter(&t, side, root);
            test_gatherv_scatterv(&t, side, root);
          }
        test_allgather(&t);
        test_one_way(&t);
        test_alltoall(&t);
        test_barrier(&t);
        t.from = &layouts[0];
        for (int side = 0; side < 2; ++side)
          for (int root = 0; root < g.size[side]; ++root) test_reduce(&t, side, root);
        test_reductions(&t);
        test_order(&t);
      }
    test_together(&t);
    free_groups(&g);
  }
  free_layouts(layouts);
  return check_end("collectives of inter-communicators");
}
