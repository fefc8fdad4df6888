#include "mpi/topologies/cartesian_calls.hpp"

#include <algorithm>

#include "mpi/topologies/attach.hpp"
#include "mpi/topologies/locations.hpp"

namespace headway::mpi::calls {
namespace {

int grid_of(const communicator& comm, const grid*& found) {
  return topology_of(comm, "Cartesian", found);
}

/// The grid that the arguments of MPI_Cart_create and MPI_Cart_map describe, checked.
int read_grid(const communicator& comm, int ndims, const int* dims, const int* periods,
              grid& made) {
  if (ndims < 0) return fail(MPI_ERR_DIMS, "argument 2 (ndims) is {}", ndims);
  std::int64_t size = 1;
  for (int d = 0; d < ndims; ++d) {
    if (dims[d] < 1) {
      return fail(MPI_ERR_DIMS, "argument 3 (dims) has {} at index {}, but must be positive",
                  dims[d], d);
    }
    size *= dims[d];
    if (size > comm.size()) {
      return fail(MPI_ERR_DIMS,
                  "argument 3 (dims) asks for at least {} processes, but the communicator has {}",
                  size, comm.size());
    }
    made.sizes.push_back(dims[d]);
    made.periodic.push_back(periods[d] != 0);
  }
  return MPI_SUCCESS;
}

template <class From>
void copy_some(const From& from, int count, int* to) {
  std::copy_n(from.begin(), std::min(static_cast<int>(from.size()), count), to);
}

}  // namespace

int cart_create(communicator& comm, int ndims, const int* dims, const int* periods, int reorder,
                communicator*& made) {
  grid asked;
  if (const int code = read_grid(comm, ndims, dims, periods, asked)) return code;
  auto order = same_order(asked.size());
  if (reorder) {
    std::vector<location> where;
    if (const int code = gather_locations(comm, where)) return code;
    order = place(asked, traffic_of(asked), where);
  }
  return create_with_topology(comm, order, std::move(asked), made);
}

int cart_sub(communicator& comm, const int* remain_dims, communicator*& made) {
  const grid* whole = nullptr;
  if (const int code = grid_of(comm, whole)) return code;
  if (remain_dims == nullptr && whole->dimensions() > 0)
    return fail(MPI_ERR_ARG, "argument 2 (remain_dims) is null");
  grid part;
  for (std::size_t d = 0; d < whole->sizes.size(); ++d) {
    if (!remain_dims[d]) continue;
    part.sizes.push_back(whole->sizes[d]);
    part.periodic.push_back(whole->periodic[d]);
  }
  const auto here = whole->coordinates_of(comm.rank());
  std::vector<int> members;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto there = whole->coordinates_of(rank);
    bool beside = true;
    for (std::size_t d = 0; d < here.size(); ++d)
      beside = beside && (remain_dims[d] || here[d] == there[d]);
    if (beside) members.push_back(rank);
  }
  return create_with_topology(comm, members, std::move(part), made);
}

int cart_map(communicator& comm, int ndims, const int* dims, const int* periods, int& newrank) {
  grid asked;
  if (const int code = read_grid(comm, ndims, dims, periods, asked)) return code;
  newrank = position_in(place(asked, traffic_of(asked), known_locations(comm)), comm.rank());
  return MPI_SUCCESS;
}

int cartdim_get(communicator& comm, int& ndims) {
  const grid* g = nullptr;
  if (const int code = grid_of(comm, g)) return code;
  ndims = g->dimensions();
  return MPI_SUCCESS;
}

int cart_get(communicator& comm, int maxdims, int* dims, int* periods, int* coords) {
  const grid* g = nullptr;
  if (const int code = grid_of(comm, g)) return code;
  copy_some(g->sizes, maxdims, dims);
  copy_some(g->periodic, maxdims, periods);
  copy_some(g->coordinates_of(comm.rank()), maxdims, coords);
  return MPI_SUCCESS;
}

int cart_rank(communicator& comm, const int* coords, int& rank) {
  const grid* g = nullptr;
  if (const int code = grid_of(comm, g)) return code;
  if (coords == nullptr && g->dimensions() > 0)
    return fail(MPI_ERR_ARG, "argument 2 (coords) is null");
  std::vector<int> inside(g->sizes.size());
  for (std::size_t d = 0; d < inside.size(); ++d) {
    const int size = g->sizes[d];
    if (!g->periodic[d] && (coords[d] < 0 || coords[d] >= size)) {
      return fail(MPI_ERR_ARG,
                  "argument 2 (coords) has {} at index {}, but that dimension has {} and is not "
                  "periodic",
                  coords[d], d, size);
    }
    inside[d] = (coords[d] % size + size) % size;
  }
  rank = g->rank_of(inside);
  return MPI_SUCCESS;
}

int cart_coords(communicator& comm, int rank, int maxdims, int* coords) {
  const grid* g = nullptr;
  if (const int code = grid_of(comm, g)) return code;
  if (!comm.has_rank(rank)) return fail(MPI_ERR_RANK, "argument 2 (rank) is {}", rank);
  copy_some(g->coordinates_of(rank), maxdims, coords);
  return MPI_SUCCESS;
}

int cart_shift(communicator& comm, int direction, int disp, int& rank_source, int& rank_dest) {
  const grid* g = nullptr;
  if (const int code = grid_of(comm, g)) return code;
  if (direction < 0 || direction >= g->dimensions()) {
    return fail(MPI_ERR_DIMS, "argument 2 (direction) is {}, but the topology has {} dimensions",
                direction, g->dimensions());
  }
  rank_source = g->shifted(comm.rank(), direction, -std::int64_t{disp});
  rank_dest = g->shifted(comm.rank(), direction, disp);
  return MPI_SUCCESS;
}

}  // namespace headway::mpi::calls
