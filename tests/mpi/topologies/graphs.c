/* Goal: graph topologies return what was passed; distributed ones bring each edge to its two ends,
 * whichever rank passed it, with its weight. Method: random graphs, compared with a list of all
 * edges. */
#include "check_all.h"

enum { edges_max = 64 };

struct edge {
  int from, to, weight, by;
};

/* The same on all ranks. */
static int random_edges(struct edge* all) {
  const int count = rand() % (4 * check_size + 1);
  for (int e = 0; e < count; ++e) {
    all[e] =
        (struct edge){rand() % check_size, rand() % check_size, rand() % 5, rand() % check_size};
  }
  return count;
}

static int ascending(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

/* The same ranks with the same weights, in any order; weights are below 8. */
static int same_edges(int count, const int* ranks, const int* weights, const struct edge* all,
                      int edges, int coming) {
  int found[edges_max], wanted[edges_max], expected = 0;
  for (int e = 0; e < edges; ++e) {
    if ((coming ? all[e].to : all[e].from) == check_rank)
      wanted[expected++] = (coming ? all[e].from : all[e].to) * 8 + (weights ? all[e].weight : 0);
  }
  if (count != expected) return 0;
  for (int i = 0; i < count; ++i) found[i] = ranks[i] * 8 + (weights ? weights[i] : 0);
  qsort(found, (size_t)count, sizeof(int), ascending);
  qsort(wanted, (size_t)count, sizeof(int), ascending);
  return memcmp(found, wanted, (size_t)count * sizeof(int)) == 0;
}

static void check_distributed(MPI_Comm comm, const struct edge* all, int edges, int with_weights) {
  int in = -1, out = -1, weighted = -1, kind, rank;
  int sources[edges_max], source_weights[edges_max], destinations[edges_max], weights[edges_max];
  MPI_Comm_rank(comm, &rank);
  CHECK(rank == check_rank, "rank %d: nothing was to be reordered", rank);
  CHECK_OK(MPI_Topo_test(comm, &kind));
  CHECK(kind == MPI_DIST_GRAPH, "topology %d", kind);
  CHECK_OK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
  CHECK(weighted == with_weights, "weighted is %d", weighted);
  CHECK_OK(MPI_Dist_graph_neighbors(comm, in, sources,
                                    with_weights ? source_weights : MPI_UNWEIGHTED, out,
                                    destinations, with_weights ? weights : MPI_UNWEIGHTED));
  CHECK(same_edges(in, sources, with_weights ? source_weights : NULL, all, edges, 1), "%d in", in);
  CHECK(same_edges(out, destinations, with_weights ? weights : NULL, all, edges, 0), "%d out", out);
}

static void test_distributed(int with_weights, int reorder) {
  struct edge all[edges_max];
  int sources[edges_max], degrees[edges_max], destinations[edges_max], weights[edges_max];
  const int edges = random_edges(all);
  int n = 0, given = 0;
  for (int e = 0; e < edges; ++e) {
    if (all[e].by != check_rank) continue;
    if (n == 0 || sources[n - 1] != all[e].from || given % 3 == 0) {
      sources[n] = all[e].from;
      degrees[n++] = 0;
    }
    ++degrees[n - 1];
    destinations[given] = all[e].to;
    weights[given++] = all[e].weight;
  }
  MPI_Comm comm, copy;
  const int* told = !with_weights ? MPI_UNWEIGHTED : given ? weights : MPI_WEIGHTS_EMPTY;
  CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, destinations, told,
                                 MPI_INFO_NULL, reorder, &comm));
  check_distributed(comm, all, edges, with_weights);
  CHECK_OK(MPI_Comm_dup(comm, &copy));
  check_distributed(copy, all, edges, with_weights);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
}

static void test_adjacent(int with_weights, int reorder) {
  struct edge all[edges_max];
  int sources[edges_max], source_weights[edges_max], destinations[edges_max], weights[edges_max];
  const int edges = random_edges(all);
  int in = 0, out = 0, told_in[edges_max], told_weights[edges_max];
  for (int e = edges; e-- > 0;) {
    if (all[e].to == check_rank) source_weights[in] = all[e].weight, sources[in++] = all[e].from;
    if (all[e].from == check_rank) weights[out] = all[e].weight, destinations[out++] = all[e].to;
  }
  MPI_Comm comm;
  CHECK_OK(MPI_Dist_graph_create_adjacent(
      MPI_COMM_WORLD, in, sources, with_weights ? source_weights : MPI_UNWEIGHTED, out,
      destinations, with_weights ? weights : MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, &comm));
  check_distributed(comm, all, edges, with_weights);
  CHECK_OK(MPI_Dist_graph_neighbors(comm, in, told_in, told_weights, 0, NULL, MPI_UNWEIGHTED));
  CHECK(memcmp(told_in, sources, (size_t)in * sizeof(int)) == 0, "the order is not kept");
  if (in > 1) { /* the first part of the list */
    told_in[1] = -7;
    CHECK_OK(MPI_Dist_graph_neighbors(comm, 1, told_in, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED));
    CHECK(told_in[0] == sources[0] && told_in[1] == -7, "%d and %d", told_in[0], told_in[1]);
  }
  MPI_Comm_free(&comm);
}

/* A graph of some of the ranks, from the edges among them. */
static void test_graph(int reorder) {
  struct edge all[edges_max];
  const int given = random_edges(all), nodes = rand() % (check_size + 1);
  int ends[edges_max], edges[edges_max], total = 0, mapped = -1, kind = -1;
  for (int i = 0; i < nodes; ++i) {
    for (int e = 0; e < given; ++e)
      if (all[e].from == i && all[e].to < nodes) edges[total++] = all[e].to;
    ends[i] = total;
  }
  MPI_Comm comm;
  CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, nodes, ends, edges, &mapped));
  CHECK(mapped == (check_rank < nodes ? check_rank : MPI_UNDEFINED), "mapped to %d", mapped);
  CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, nodes, ends, edges, reorder, &comm));
  CHECK((comm != MPI_COMM_NULL) == (check_rank < nodes), "a graph of %d", nodes);
  if (comm == MPI_COMM_NULL) return;
  int told_nodes, told_edges, told_ends[edges_max], told[edges_max];
  CHECK_OK(MPI_Topo_test(comm, &kind));
  CHECK(kind == MPI_GRAPH, "topology %d", kind);
  CHECK_OK(MPI_Graphdims_get(comm, &told_nodes, &told_edges));
  CHECK(told_nodes == nodes && told_edges == total, "%d nodes, %d edges", told_nodes, told_edges);
  CHECK_OK(MPI_Graph_get(comm, nodes, total, told_ends, told));
  CHECK(memcmp(told_ends, ends, (size_t)nodes * sizeof(int)) == 0, "ends");
  CHECK(memcmp(told, edges, (size_t)total * sizeof(int)) == 0, "edges");
  for (int i = 0; i < nodes; ++i) {
    const int first = i ? ends[i - 1] : 0;
    int count = -1;
    CHECK_OK(MPI_Graph_neighbors_count(comm, i, &count));
    CHECK(count == ends[i] - first, "%d neighbours of %d", count, i);
    CHECK_OK(MPI_Graph_neighbors(comm, i, count, told));
    CHECK(memcmp(told, edges + first, (size_t)count * sizeof(int)) == 0, "neighbours of %d", i);
  }
  MPI_Comm_free(&comm);
}

static void test_refusals(void) {
  MPI_Comm comm, world = MPI_COMM_WORLD;
  int zero = 0, one = 1, n = check_size, big = check_size, two[2] = {2, 1}, some[2];
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Graph_create(world, -1, &one, &zero, 0, &comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_create(world, n + 1, &one, &zero, 0, &comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_create(world, 1, &one, &one, 0, &comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_create(world, 1, &one, (int[]){-1}, 0, &comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_create(world, 1, (int[]){-1}, &zero, 0, &comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_create(world, 1, NULL, &zero, 0, &comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_create(world, 1, &one, NULL, 0, &comm), MPI_ERR_ARG);
  if (n > 1) CHECK_CLASS(MPI_Graph_create(world, 2, two, two, 0, &comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_map(world, n + 1, &one, &zero, some), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_neighbors(world, 0, 1, some), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Dist_graph_neighbors_count(world, &some[0], &some[1], &two[0]), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Dist_graph_create_adjacent(world, 1, &big, MPI_UNWEIGHTED, 0, NULL,
                                             MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm),
              MPI_ERR_RANK);
  CHECK_CLASS(MPI_Dist_graph_create_adjacent(world, 0, NULL, MPI_UNWEIGHTED, 1, (int[]){-1},
                                             MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm),
              MPI_ERR_RANK);
  CHECK_CLASS(MPI_Dist_graph_create_adjacent(world, -1, NULL, MPI_UNWEIGHTED, 0, NULL,
                                             MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Dist_graph_create_adjacent(world, 1, &zero, MPI_WEIGHTS_EMPTY, 0, NULL,
                                             MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &comm),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Dist_graph_create_adjacent(world, 1, &zero, &one, 1, &zero, MPI_UNWEIGHTED,
                                             MPI_INFO_NULL, 0, &comm),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Dist_graph_create_adjacent(world, 1, &zero, (int[]){-1}, 0, NULL,
                                             MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &comm),
              MPI_ERR_ARG);
  CHECK_CLASS(
      MPI_Dist_graph_create(world, 1, &big, &one, &zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm),
      MPI_ERR_RANK);
  CHECK_CLASS(
      MPI_Dist_graph_create(world, 1, &zero, &one, &big, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm),
      MPI_ERR_RANK);
  CHECK_CLASS(MPI_Dist_graph_create(world, 1, &zero, (int[]){-1}, &zero, MPI_UNWEIGHTED,
                                    MPI_INFO_NULL, 0, &comm),
              MPI_ERR_ARG);
  CHECK_CLASS(
      MPI_Dist_graph_create(world, 1, &zero, &one, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm),
      MPI_ERR_ARG);
  CHECK_CLASS(
      MPI_Dist_graph_create(world, -1, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm),
      MPI_ERR_ARG);
}

/* Neighbourhood collectives refuse what they cannot do. */
static void test_neighbor_refusals(void) {
  MPI_Comm world = MPI_COMM_WORLD, comm;
  MPI_Request r;
  int a[4] = {0}, b[4] = {0}, negative[4] = {-1, -1, -1, -1}, ring = 1, n = check_size;
  MPI_Aint places[4] = {0};
  MPI_Datatype ints[2] = {MPI_INT, MPI_INT}, bad[2] = {MPI_INT, MPI_DATATYPE_NULL};
  CHECK_CLASS(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, world), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Neighbor_alltoallv(a, a, a, MPI_INT, b, b, b, MPI_INT, world), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Ineighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, world, &r), MPI_ERR_TOPOLOGY);
  CHECK_OK(MPI_Cart_create(world, 1, &n, &ring, 0, &comm));
  CHECK_CLASS(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, comm), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Neighbor_allgather(a, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm),
              MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Neighbor_alltoall(a, 1, MPI_INT, a, 1, MPI_INT, comm), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Neighbor_alltoall(NULL, 1, MPI_INT, b, 1, MPI_INT, comm), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Neighbor_alltoall(a, -1, MPI_INT, b, 1, MPI_INT, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_DATATYPE_NULL, comm), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Neighbor_allgatherv(a, 1, MPI_INT, b, negative, a, MPI_INT, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Neighbor_allgatherv(a, 1, MPI_INT, b, NULL, a, MPI_INT, comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Neighbor_allgatherv(a, 1, MPI_INT, b, a, NULL, MPI_INT, comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Neighbor_alltoallv(a, negative, a, MPI_INT, b, a, a, MPI_INT, comm),
              MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Neighbor_alltoallv(a, a, NULL, MPI_INT, b, a, a, MPI_INT, comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Neighbor_alltoallw(a, a, places, bad, b, b, places, ints, comm), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Neighbor_alltoallw(a, a, places, ints, b, b, NULL, ints, comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_NULL), MPI_ERR_COMM);
  MPI_Comm_free(&comm);
  if (n == 1) return;
  CHECK_OK(MPI_Graph_create(world, 2, (int[]){1, 1}, (int[]){1}, 0, &comm)); /* 0 to 1, not back */
  if (comm == MPI_COMM_NULL) return;
  CHECK_CLASS(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, comm), MPI_ERR_TOPOLOGY);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  srand(5);
  for (int i = 0; i < 40; ++i) {
    test_graph(i % 2);
    test_distributed(i / 2 % 2, i % 2);
    test_adjacent(i / 2 % 2, i % 2);
  }
  test_refusals();
  test_neighbor_refusals();
  return check_end("graphs");
}
