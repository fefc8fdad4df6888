#include "mpi/fortran/handles.hpp"

#include "mpi/fortran/unrecorded.hpp"

namespace headway::mpi::fortran {
namespace {

struct degrees {
  int sources = 0;
  int destinations = 0;
};

degrees neighbors(int number) {
  const unrecorded calls;
  const MPI_Comm comm = handle<MPI_Comm>(number);
  degrees found;
  int kind = MPI_UNDEFINED;
  if (comm == MPI_COMM_NULL || PMPI_Topo_test(comm, &kind) != MPI_SUCCESS) return found;
  if (kind == MPI_DIST_GRAPH) {
    int weighted = 0;
    PMPI_Dist_graph_neighbors_count(comm, &found.sources, &found.destinations, &weighted);
  } else if (kind == MPI_CART) {
    PMPI_Cartdim_get(comm, &found.sources);
    found.sources = found.destinations = 2 * found.sources;
  } else if (kind == MPI_GRAPH) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, &found.sources);
    found.destinations = found.sources;
  }
  return found;
}

}  // namespace

int peer_count(int number) {
  const unrecorded calls;
  const MPI_Comm comm = handle<MPI_Comm>(number);
  int is_inter = 0;
  int count = 0;
  if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS) return 0;
  const int code = is_inter ? PMPI_Comm_remote_size(comm, &count) : PMPI_Comm_size(comm, &count);
  return code == MPI_SUCCESS ? count : 0;
}

int source_count(int comm) { return neighbors(comm).sources; }
int destination_count(int comm) { return neighbors(comm).destinations; }

bool is_root(int root, int number) {
  const MPI_Comm comm = handle<MPI_Comm>(number);
  if (root == MPI_ROOT || comm == MPI_COMM_NULL) return root == MPI_ROOT;
  const unrecorded calls;
  int rank = MPI_PROC_NULL;
  return PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

}  // namespace headway::mpi::fortran
