#include "mpi/topologies/graph_calls.hpp"

#include <algorithm>

#include "mpi/topologies/attach.hpp"
#include "mpi/topologies/locations.hpp"

namespace headway::mpi::calls {
namespace {

int graph_of(const communicator& comm, const graph*& found) {
  return topology_of(comm, "graph", found);
}

/// The graph that the arguments of MPI_Graph_create and MPI_Graph_map describe, checked.
int read_graph(const communicator& comm, int nnodes, const int* indx, const int* edges,
               graph& made) {
  if (nnodes < 0 || nnodes > comm.size()) {
    return fail(MPI_ERR_ARG, "argument 2 (nnodes) is {}, but the communicator has {} processes",
                nnodes, comm.size());
  }
  int end = 0;
  for (int i = 0; i < nnodes; ++i) {
    if (indx[i] < end) {
      return fail(MPI_ERR_ARG, "argument 3 (index) has {} at index {}, less than the {} before it",
                  indx[i], i, end);
    }
    end = indx[i];
  }
  if (end > 0 && edges == nullptr) return fail(MPI_ERR_ARG, "argument 4 (edges) is null");
  for (int i = 0; i < end; ++i) {
    if (edges[i] < 0 || edges[i] >= nnodes) {
      return fail(MPI_ERR_ARG, "argument 4 (edges) has {} at index {}, but there are {} nodes",
                  edges[i], i, nnodes);
    }
  }
  made.ends.assign(indx, indx + nnodes);
  made.edges.assign(edges, edges + end);
  return MPI_SUCCESS;
}

int neighbors_of(const communicator& comm, int rank, std::span<const int>& found) {
  const graph* g = nullptr;
  if (const int code = graph_of(comm, g)) return code;
  if (!comm.has_rank(rank)) return fail(MPI_ERR_RANK, "argument 2 (rank) is {}", rank);
  found = g->neighbors_of(rank);
  return MPI_SUCCESS;
}

void copy_some(std::span<const int> from, int count, int* to) {
  std::copy_n(from.begin(), std::min(static_cast<int>(from.size()), count), to);
}

}  // namespace

int graph_create(communicator& comm, int nnodes, const int* indx, const int* edges, int reorder,
                 communicator*& made) {
  graph asked;
  if (const int code = read_graph(comm, nnodes, indx, edges, asked)) return code;
  auto order = same_order(nnodes);
  if (reorder) {
    std::vector<location> where;
    if (const int code = gather_locations(comm, where)) return code;
    order = place(traffic_of(asked), where);
  }
  return create_with_topology(comm, order, std::move(asked), made);
}

int graph_map(communicator& comm, int nnodes, const int* indx, const int* edges, int& newrank) {
  graph asked;
  if (const int code = read_graph(comm, nnodes, indx, edges, asked)) return code;
  newrank = position_in(place(traffic_of(asked), known_locations(comm)), comm.rank());
  return MPI_SUCCESS;
}

int graphdims_get(communicator& comm, int& nnodes, int& nedges) {
  const graph* g = nullptr;
  if (const int code = graph_of(comm, g)) return code;
  nnodes = static_cast<int>(g->ends.size());
  nedges = static_cast<int>(g->edges.size());
  return MPI_SUCCESS;
}

int graph_get(communicator& comm, int maxindex, int maxedges, int* indx, int* edges) {
  const graph* g = nullptr;
  if (const int code = graph_of(comm, g)) return code;
  copy_some(g->ends, maxindex, indx);
  copy_some(g->edges, maxedges, edges);
  return MPI_SUCCESS;
}

int graph_neighbors_count(communicator& comm, int rank, int& nneighbors) {
  std::span<const int> all;
  if (const int code = neighbors_of(comm, rank, all)) return code;
  nneighbors = static_cast<int>(all.size());
  return MPI_SUCCESS;
}

int graph_neighbors(communicator& comm, int rank, int maxneighbors, int* neighbors) {
  std::span<const int> all;
  if (const int code = neighbors_of(comm, rank, all)) return code;
  copy_some(all, maxneighbors, neighbors);
  return MPI_SUCCESS;
}

}  // namespace headway::mpi::calls
