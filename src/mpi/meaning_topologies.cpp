#include "mpi/meaning_topologies.hpp"

#include <vector>

#include "mpi/failure.hpp"

namespace headway::mpi::meaning {
namespace {

/// Writes `product` as the last `sizes` from `first` on, none larger than `most`, not increasing,
/// the largest as small as can be, then the next. False: there is none.
bool divide(int product, int most, std::vector<int>& sizes, std::size_t first) {
  const std::size_t left = sizes.size() - first;
  if (left == 0) return product == 1;
  for (int size = 1; size <= most && size <= product; ++size) {
    double room = 1;  // all of this size would have to hold the product
    for (std::size_t i = 0; i < left; ++i) room *= size;
    if (product % size != 0 || room < product) continue;
    sizes[first] = size;
    if (divide(product / size, size, sizes, first + 1)) return true;
  }
  return false;
}

}  // namespace

int topo_test(communicator&, int& status) {
  status = MPI_UNDEFINED;  // no communicator has a topology yet
  return MPI_SUCCESS;
}

int dims_create(int nnodes, int ndims, int* dims) {
  if (nnodes <= 0) return fail(MPI_ERR_ARG, "argument 1 (nnodes) is {}", nnodes);
  if (ndims < 0) return fail(MPI_ERR_DIMS, "argument 2 (ndims) is {}", ndims);
  int rest = nnodes;
  std::size_t open = 0;
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] < 0 || (dims[i] > 0 && rest % dims[i] != 0)) {
      return fail(MPI_ERR_DIMS, "argument 3 (dims) has {} at index {}, which does not divide {}",
                  dims[i], i, nnodes);
    }
    if (dims[i] > 0) rest /= dims[i];
    open += dims[i] == 0;
  }
  std::vector<int> sizes(open);
  if (!divide(rest, rest, sizes, 0)) {
    return fail(MPI_ERR_DIMS, "the given dimensions do not multiply to {}", nnodes);
  }
  std::size_t next = 0;
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] == 0) dims[i] = sizes[next++];
  }
  return MPI_SUCCESS;
}

}  // namespace headway::mpi::meaning
