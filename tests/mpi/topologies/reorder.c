/* Goal: reorder brings neighbours to the same place: the same node, or with an argument the same
 * resource of that name, such as hwloc://Package. Run by reorder_test.py, which gives the ranks to
 * two places in turn, so that their own order is the worst one. */
#include "check_all.h"

enum { ranks_max = 64 };

static const char* resource = "mpi_shared_memory";
/* MPI_Cart_map and MPI_Graph_map are local: they know the nodes of all ranks, and no more. */
static int maps_know_places = 1;

/* Of each rank of `comm`, the lowest rank of the world in its place. */
static void find_places(MPI_Comm comm, int* places) {
  MPI_Comm place = MPI_COMM_NULL;
  MPI_Info hints;
  int lowest = -1;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "mpi_hw_resource_type", resource);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, hints, &place);
  MPI_Info_free(&hints);
  if (place != MPI_COMM_NULL) {
    MPI_Allreduce(&check_rank, &lowest, 1, MPI_INT, MPI_MIN, place);
    MPI_Comm_free(&place);
  }
  MPI_Allgather(&lowest, 1, MPI_INT, places, 1, MPI_INT, comm);
}

/* The weight of this rank's edges to other places, summed over all ranks. */
static int crossing(MPI_Comm comm, const int* neighbors, const int* weights, int count) {
  int places[ranks_max], rank, mine = 0, all;
  MPI_Comm_rank(comm, &rank);
  find_places(comm, places);
  for (int i = 0; i < count; ++i) {
    if (neighbors[i] >= 0 && places[neighbors[i]] != places[rank]) mine += weights ? weights[i] : 1;
  }
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comm);
  return all;
}

/* A grid of two columns: cut between its rows, two edges cross, from both of their ends. */
static void test_grid(void) {
  const int dims[2] = {check_size / 2, 2}, periods[2] = {0, 0};
  for (int reorder = 0; reorder < 2; ++reorder) {
    MPI_Comm comm;
    int neighbors[4], rank, mapped;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, reorder, &comm));
    MPI_Cart_shift(comm, 0, 1, &neighbors[0], &neighbors[1]);
    MPI_Cart_shift(comm, 1, 1, &neighbors[2], &neighbors[3]);
    const int found = crossing(comm, neighbors, NULL, 4), wanted = reorder ? 4 : check_size;
    CHECK(found == wanted, "%d edges cross instead of %d", found, wanted);
    MPI_Comm_rank(comm, &rank);
    CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &mapped));
    CHECK(!reorder || !maps_know_places || rank == mapped, "rank %d, but mapped to %d", rank,
          mapped);
    MPI_Comm_free(&comm);
  }
}

/* Heavy edges between the halves i and i + size / 2, which are in one place only after reordering;
 * light ones in a ring. Each rank must get the edges of its new rank, in order. */
static void test_distributed(int adjacent) {
  const int half = check_size / 2, step = half % 2 ? half : half - 1;
  const int next = (check_rank + 1) % check_size, last = (check_rank + check_size - 1) % check_size;
  const int partner =
      (check_rank % 2 ? check_rank + check_size - step : check_rank + step) % check_size;
  const int out[2] = {partner, next}, in[2] = {partner, last}, weights[2] = {50, 1}, two = 2;
  MPI_Comm comm;
  if (adjacent) {
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, in, weights, 2, out, weights,
                                            MPI_INFO_NULL, 1, &comm));
  } else {
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &check_rank, &two, out, weights,
                                   MPI_INFO_NULL, 1, &comm));
  }
  int sources[2], source_weights[2], destinations[2], destination_weights[2], rank;
  MPI_Comm_rank(comm, &rank);
  CHECK_OK(MPI_Dist_graph_neighbors(comm, 2, sources, source_weights, 2, destinations,
                                    destination_weights));
  const int found = crossing(comm, destinations, destination_weights, 2);
  CHECK(found < 50, "edges of weight %d cross", found);
  /* What rank `rank` of the world gave. */
  const int heavy = (rank % 2 ? rank + check_size - step : rank + step) % check_size;
  CHECK(destinations[0] == heavy && destination_weights[0] == 50, "to %d", destinations[0]);
  CHECK(destinations[1] == (rank + 1) % check_size && destination_weights[1] == 1, "to %d",
        destinations[1]);
  CHECK(!adjacent || (sources[0] == heavy && sources[1] == (rank + check_size - 1) % check_size),
        "from %d and %d", sources[0], sources[1]);
  int sent[2] = {rank, rank}, received[2] = {-1, -1};
  CHECK_OK(MPI_Neighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, comm));
  CHECK(received[0] == sources[0] && received[1] == sources[1], "%d and %d came", received[0],
        received[1]);
  MPI_Comm_free(&comm);
}

/* A graph of pairs (2i, 2i + 1): each pair fits into a place, and no edge needs to cross. */
static void test_graph(void) {
  int ends[ranks_max], edges[ranks_max], rank, mapped;
  for (int i = 0; i < check_size; ++i) {
    ends[i] = i + 1;
    edges[i] = i ^ 1;
  }
  MPI_Comm comm;
  CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, check_size, ends, edges, 1, &comm));
  MPI_Comm_rank(comm, &rank);
  CHECK(crossing(comm, &edges[rank], NULL, 1) == 0, "pairs are in different places");
  CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, check_size, ends, edges, &mapped));
  CHECK(!maps_know_places || rank == mapped, "rank %d, but mapped to %d", rank, mapped);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  int places[ranks_max];
  if (argc > 1) {
    resource = argv[1];
    maps_know_places = 0;
  }
  find_places(MPI_COMM_WORLD, places);
  for (int i = 0; i < check_size; ++i)
    CHECK(places[i] == i % 2, "rank %d is in place %d", i, places[i]);
  test_grid();
  test_graph();
  test_distributed(0);
  test_distributed(1);
  return check_end("reorder");
}
