/* Goal: neighbourhood collectives bring every block to where the standard says, in all their forms,
 * also along duplicate edges, edges of a rank to itself and around rings of one and two ranks.
 * Method: random grids and graphs; which rank sends which block is computed from all ranks' lists,
 * and every element received is compared with it. Blocks have gaps and several layouts. */
#include <unistd.h>

#include "patterns.h"

#define EDGES_MAX 72
enum { ranks_max = 9 };

/* Of this rank: source i sends its block blocks[i] here; -1: there is no such neighbour. */
struct neighborhood {
  int in, out;
  int sources[EDGES_MAX], blocks[EDGES_MAX], destinations[EDGES_MAX];
};

enum { forms = 3 };

/* The call in one of its forms; a persistent one is run twice. */
#define CALL(form, comm, name, suffix, ...)                                              \
  do {                                                                                   \
    MPI_Request r_;                                                                      \
    if (form == 0) CHECK_OK(MPI_Neighbor_##name##suffix(__VA_ARGS__, comm));             \
    if (form == 1) CHECK_OK(MPI_Ineighbor_##name##suffix(__VA_ARGS__, comm, &r_));       \
    if (form == 1) CHECK_OK(MPI_Wait(&r_, MPI_STATUS_IGNORE));                           \
    if (form < 2) break;                                                                 \
    CHECK_OK(MPI_Neighbor_##name##_init##suffix(__VA_ARGS__, comm, MPI_INFO_NULL, &r_)); \
    run_twice(&r_);                                                                      \
  } while (0)

static void run_twice(MPI_Request* r) {
  for (int i = 0; i < 2; ++i) {
    CHECK_OK(MPI_Start(r));
    CHECK_OK(MPI_Wait(r, MPI_STATUS_IGNORE));
  }
  CHECK_OK(MPI_Request_free(r));
}

static int untouched(long* buffer, const struct layout* l, long first, long count) {
  for (long i = 0; i < count; ++i)
    if (*element(buffer, l, first + i) != 0x5a5a5a5a5a5a5a5aL) return 0;
  return 1;
}

static void check_block(const struct neighborhood* n, int i, long* buffer, const struct layout* l,
                        long first, long count, int block) {
  if (n->sources[i] < 0) {
    CHECK(untouched(buffer, l, first, count), "block %d has no source", i);
  } else {
    CHECK(holds(buffer, l, first, count, n->sources[i], block), "block %d of rank %d as block %d",
          block, n->sources[i], i);
  }
}

static void test_equal(MPI_Comm comm, const struct neighborhood* n, const struct layout* from,
                       const struct layout* to, int count, int form, int large) {
  long *s = new_buffer(from, (long)count * n->out + count),
       *a = new_buffer(to, (long)count * n->in);
  fill(s, from, 0, count, check_rank, 7);
  if (large) CALL(form, comm, allgather, _c, s, count, from->type, a, count, to->type);
  else CALL(form, comm, allgather, , s, count, from->type, a, count, to->type);
  for (int i = 0; i < n->in; ++i) check_block(n, i, a, to, (long)i * count, count, 7);
  for (int i = 0; i < n->out; ++i) fill(s, from, (long)i * count, count, check_rank, i);
  if (large) CALL(form, comm, alltoall, _c, s, count, from->type, a, count, to->type);
  else CALL(form, comm, alltoall, , s, count, from->type, a, count, to->type);
  for (int i = 0; i < n->in; ++i) check_block(n, i, a, to, (long)i * count, count, n->blocks[i]);
  free(s);
  free(a);
}

/* What a rank sends in one block, known at both ends. */
static int length(int source, int block) {
  return (source * 3 + block * 5) % 4 * ((source + block) % 2 ? 100 : 1);
}

/* Counts and places of all blocks, the last one first, with gaps; in both widths. */
struct row {
  int counts[EDGES_MAX], places[EDGES_MAX];
  MPI_Count counts_c[EDGES_MAX];
  MPI_Aint places_c[EDGES_MAX];
  long total;
};

static void add(struct row* r, int i, int count) {
  r->counts[i] = count;
  r->counts_c[i] = count;
  r->places[i] = (int)r->total;
  r->places_c[i] = r->total;
  r->total += count + 2;
}

static void outgoing(const struct neighborhood* n, struct row* r) {
  r->total = 0;
  for (int i = n->out; i-- > 0;) add(r, i, length(check_rank, i));
}

static void incoming(const struct neighborhood* n, struct row* r, int gathered) {
  r->total = 0;
  for (int i = n->in; i-- > 0;)
    add(r, i, n->sources[i] < 0 ? 5 : length(n->sources[i], gathered ? 9 : n->blocks[i]));
}

static void test_varying(MPI_Comm comm, const struct neighborhood* n, const struct layout* from,
                         const struct layout* to, int form, int large) {
  struct row out, in;
  outgoing(n, &out);
  incoming(n, &in, 1);
  const int mine = length(check_rank, 9);
  long *s = new_buffer(from, out.total + mine), *a = new_buffer(to, in.total);
  fill(s, from, 0, mine, check_rank, 9);
  if (large)
    CALL(form, comm, allgatherv, _c, s, mine, from->type, a, in.counts_c, in.places_c, to->type);
  else CALL(form, comm, allgatherv, , s, mine, from->type, a, in.counts, in.places, to->type);
  for (int i = 0; i < n->in; ++i) check_block(n, i, a, to, in.places[i], in.counts[i], 9);
  free(a);
  incoming(n, &in, 0);
  a = new_buffer(to, in.total);
  for (int i = 0; i < n->out; ++i) fill(s, from, out.places[i], out.counts[i], check_rank, i);
  if (large) {
    CALL(form, comm, alltoallv, _c, s, out.counts_c, out.places_c, from->type, a, in.counts_c,
         in.places_c, to->type);
  } else {
    CALL(form, comm, alltoallv, , s, out.counts, out.places, from->type, a, in.counts, in.places,
         to->type);
  }
  for (int i = 0; i < n->in; ++i)
    check_block(n, i, a, to, in.places[i], in.counts[i], n->blocks[i]);
  free(s);
  free(a);
}

/* Block i has layout i + shift; places are in bytes, far enough apart for the widest layout. */
static void test_typed(MPI_Comm comm, const struct neighborhood* n, const struct layout* all,
                       int form, int large) {
  struct row out, in;
  MPI_Datatype out_types[EDGES_MAX], in_types[EDGES_MAX];
  outgoing(n, &out);
  incoming(n, &in, 0);
  long *s = new_buffer(&all[1], out.total), *a = new_buffer(&all[1], in.total);
  for (int i = 0; i < n->out; ++i) {
    const struct layout* l = &all[i % LAYOUTS];
    out_types[i] = l->type;
    fill(s + 3L * out.places[i], l, 0, out.counts[i], check_rank, i);
    out.places_c[i] = out.places[i] * 3L * (MPI_Aint)sizeof(long);
  }
  for (int i = 0; i < n->in; ++i) {
    in_types[i] = all[(i + 1) % LAYOUTS].type;
    in.places_c[i] = in.places[i] * 3L * (MPI_Aint)sizeof(long);
  }
  if (large) {
    CALL(form, comm, alltoallw, _c, s, out.counts_c, out.places_c, out_types, a, in.counts_c,
         in.places_c, in_types);
  } else {
    CALL(form, comm, alltoallw, , s, out.counts, out.places_c, out_types, a, in.counts, in.places_c,
         in_types);
  }
  for (int i = 0; i < n->in; ++i) {
    check_block(n, i, a + 3L * in.places[i], &all[(i + 1) % LAYOUTS], 0, in.counts[i],
                n->blocks[i]);
  }
  free(s);
  free(a);
}

static void test_all(MPI_Comm comm, const struct neighborhood* n, const struct layout* all) {
  for (int form = 0; form < forms; ++form) {
    for (int large = 0; large < 2; ++large) {
      for (int f = 0; f < LAYOUTS; ++f) {
        const struct layout *from = &all[f], *to = &all[(f + form) % LAYOUTS];
        test_equal(comm, n, from, to, form == 0 ? 1 : 300, form, large);
        test_varying(comm, n, from, to, form, large);
      }
      test_typed(comm, n, all, form, large);
    }
  }
  test_equal(comm, n, &all[0], &all[0], 0, 0, 0);
  test_equal(comm, n, &all[0], &all[0], 20000, 1, 0);
}

/* Computes `blocks` from all ranks' destinations: the k-th edge of a pair is the same at both. */
static void match_edges(MPI_Comm comm, struct neighborhood* n) {
  int mine[EDGES_MAX], *everybody = malloc(sizeof mine * (size_t)check_size);
  for (int i = 0; i < EDGES_MAX; ++i) mine[i] = i < n->out ? n->destinations[i] : -1;
  MPI_Allgather(mine, EDGES_MAX, MPI_INT, everybody, EDGES_MAX, MPI_INT, comm);
  for (int i = 0; i < n->in; ++i) {
    int earlier = 0;
    for (int j = 0; j < i; ++j) earlier += n->sources[j] == n->sources[i];
    const int* theirs = everybody + n->sources[i] * EDGES_MAX;
    n->blocks[i] = 0;
    while (theirs[n->blocks[i]] != check_rank || earlier-- > 0) ++n->blocks[i];
  }
  free(everybody);
}

static void test_grid(int ndims, const int* dims, const int* periods, const struct layout* all) {
  MPI_Comm comm;
  struct neighborhood n = {2 * ndims, 2 * ndims, {0}, {0}, {0}};
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm));
  if (comm == MPI_COMM_NULL) return;
  for (int d = 0; d < ndims; ++d) {
    CHECK_OK(MPI_Cart_shift(comm, d, 1, &n.sources[2 * d], &n.sources[2 * d + 1]));
    n.blocks[2 * d] = 2 * d + 1; /* what goes in one direction arrives from the other */
    n.blocks[2 * d + 1] = 2 * d;
  }
  memcpy(n.destinations, n.sources, sizeof n.sources);
  test_all(comm, &n, all);
  MPI_Comm again;
  CHECK_OK(MPI_Comm_dup(comm, &again));
  test_equal(again, &n, &all[0], &all[1], 3, 0, 0);
  MPI_Comm_free(&again);
  MPI_Comm_free(&comm);
}

static void test_grids(const struct layout* all) {
  static const int grids[][3] = {{1, 1, 1}, {2, 1, 1}, {2, 2, 1}, {3, 1, 1}, {2, 2, 2},
                                 {1, 4, 1}, {5, 1, 1}, {3, 2, 1}, {7, 1, 1}, {1, 2, 4}};
  for (size_t g = 0; g < sizeof grids / sizeof grids[0]; ++g) {
    if (grids[g][0] * grids[g][1] * grids[g][2] > check_size) continue;
    for (int closed = 0; closed < 8; ++closed) {
      const int periods[3] = {closed & 1, closed & 2, closed & 4};
      if (closed == 0 || closed == 7 || closed == 5) test_grid(3, grids[g], periods, all);
    }
    const int ring = 1;
    test_grid(1, grids[g], &ring, all);
  }
  test_grid(0, NULL, NULL, all);
}

/* Random edges, the same on all ranks; each list is in another order. */
static void random_lists(struct neighborhood* n) {
  const int edges = rand() % (4 * check_size + 1);
  n->in = n->out = 0;
  for (int e = 0; e < edges && e < EDGES_MAX; ++e) {
    const int from = rand() % check_size, to = rand() % check_size;
    if (from == check_rank) n->destinations[n->out++] = to;
    if (to == check_rank) n->sources[n->in++] = from;
  }
  unsigned mine = (unsigned)(check_rank + edges);
  for (int i = n->in - 1; i > 0; --i) {
    const int j = rand_r(&mine) % (i + 1), held = n->sources[i];
    n->sources[i] = n->sources[j];
    n->sources[j] = held;
  }
}

static void test_adjacent(const struct layout* all) {
  struct neighborhood n;
  MPI_Comm comm;
  random_lists(&n);
  CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n.in, n.sources, MPI_UNWEIGHTED, n.out,
                                          n.destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
  match_edges(comm, &n);
  test_all(comm, &n, all);
  MPI_Comm_free(&comm);
}

/* Each edge is given by a random rank. */
static void test_distributed(const struct layout* all) {
  int sources[EDGES_MAX], degrees[EDGES_MAX], destinations[EDGES_MAX], count = 0, weighted;
  const int edges = rand() % (4 * check_size + 1);
  for (int e = 0; e < edges && e < EDGES_MAX; ++e) {
    const int from = rand() % check_size, to = rand() % check_size, by = rand() % check_size;
    if (by != check_rank) continue;
    sources[count] = from;
    degrees[count] = 1;
    destinations[count++] = to;
  }
  struct neighborhood n;
  MPI_Comm comm;
  CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, count, sources, degrees, destinations,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
  CHECK_OK(MPI_Dist_graph_neighbors_count(comm, &n.in, &n.out, &weighted));
  CHECK_OK(MPI_Dist_graph_neighbors(comm, n.in, n.sources, MPI_UNWEIGHTED, n.out, n.destinations,
                                    MPI_UNWEIGHTED));
  match_edges(comm, &n);
  test_all(comm, &n, all);
  MPI_Comm_free(&comm);
}

/* A random symmetric graph of all ranks, with duplicate edges and edges of a rank to itself. */
static void test_graph(const struct layout* all) {
  static int lists[ranks_max][EDGES_MAX], degrees[ranks_max];
  int ends[ranks_max], edges[ranks_max * EDGES_MAX], total = 0;
  memset(degrees, 0, sizeof degrees);
  for (int e = rand() % (2 * check_size + 1); e-- > 0;) {
    const int a = rand() % check_size, b = rand() % check_size;
    lists[a][degrees[a]++] = b;
    if (a != b) lists[b][degrees[b]++] = a;
  }
  for (int i = 0; i < check_size; ++i) {
    for (int j = 0; j < degrees[i]; ++j) edges[total++] = lists[i][j];
    ends[i] = total;
  }
  struct neighborhood n;
  MPI_Comm comm;
  CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, check_size, ends, edges, 0, &comm));
  CHECK_OK(MPI_Graph_neighbors_count(comm, check_rank, &n.in));
  CHECK_OK(MPI_Graph_neighbors(comm, check_rank, n.in, n.sources));
  n.out = n.in;
  memcpy(n.destinations, n.sources, sizeof n.sources);
  match_edges(comm, &n);
  test_all(comm, &n, all);
  MPI_Comm_free(&comm);
}

/* Several operations under way at once on one communicator do not mix. The blocking calls before
 * them let the ranks of a node agree on shared memory. */
static void test_concurrent(void) {
  enum { operations = 20, calls_before = 6 };
  MPI_Comm comm;
  MPI_Request requests[operations];
  int sent[operations][2], received[operations][2], ring = 1, left, right;
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &check_size, &ring, 0, &comm));
  MPI_Cart_shift(comm, 0, 1, &left, &right);
  for (int i = 0; i < calls_before; ++i)
    CHECK_OK(MPI_Neighbor_alltoall(sent[0], 1, MPI_INT, received[0], 1, MPI_INT, comm));
  for (int i = 0; i < operations; ++i) {
    for (int side = 0; side < 2; ++side) sent[i][side] = check_rank * 100 + i * 2 + side;
    CHECK_OK(
        MPI_Ineighbor_alltoall(sent[i], 1, MPI_INT, received[i], 1, MPI_INT, comm, &requests[i]));
  }
  CHECK_OK(MPI_Waitall(operations, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < operations; ++i) {
    CHECK(received[i][0] == left * 100 + i * 2 + 1 && received[i][1] == right * 100 + i * 2,
          "operation %d gives %d and %d", i, received[i][0], received[i][1]);
  }
  MPI_Comm_free(&comm);
}

/* Each rank sends to the next one only, so that the first ranks run ahead of the others, every
 * second one of which is late now and then. Lengths change from call to call; the longest streams
 * of seven ranks and more go to two places of their banks in turns. */
static void test_ahead(void) {
  enum { calls = 300, longest = 80000 };
  const int has_next = check_rank + 1 < check_size, next = check_rank + 1;
  const int has_previous = check_rank > 0, previous = check_rank - 1;
  MPI_Comm comm;
  CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, has_previous, &previous, MPI_UNWEIGHTED,
                                          has_next, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                          &comm));
  long* sent = malloc(longest * sizeof(long));
  long* received = malloc(longest * sizeof(long));
  for (int call = 0; call < calls; ++call) {
    const int count = call % 7 == 0 ? longest : call % 3 == 0 ? 700 : call % 5;
    for (int i = 0; i < count; ++i) sent[i] = check_rank * 1000000L + call * 1000L + i;
    memset(received, 0, (size_t)count * sizeof(long));
    if (check_rank % 2 == 1 && call % 50 == 0) usleep(2000);
    if (call % 2 == 0)
      CHECK_OK(MPI_Neighbor_alltoall(sent, count, MPI_LONG, received, count, MPI_LONG, comm));
    else CHECK_OK(MPI_Neighbor_allgather(sent, count, MPI_LONG, received, count, MPI_LONG, comm));
    for (int i = 0; i < count && has_previous; ++i) {
      if (received[i] == previous * 1000000L + call * 1000L + i) continue;
      CHECK(0, "call %d, element %d is %ld", call, i, received[i]);
      break;
    }
  }
  free(sent);
  free(received);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  CHECK(check_size <= ranks_max, "at most %d ranks", ranks_max);
  struct layout all[LAYOUTS];
  make_layouts(all);
  srand(20261123);
  test_grids(all);
  for (int i = 0; i < 12; ++i) {
    test_adjacent(all);
    test_distributed(all);
    test_graph(all);
  }
  test_concurrent();
  test_ahead();
  free_layouts(all);
  return check_end("neighbors");
}
