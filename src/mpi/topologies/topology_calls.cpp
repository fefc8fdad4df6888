#include "mpi/topologies/topology_calls.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "mpi/environment/failure.hpp"
#include "mpi/topologies/process_topology.hpp"

namespace headway::mpi::calls {
namespace {

/// All divisors, in ascending order.
std::vector<int> divisors_of(int number) {
  std::vector<int> small, large;
  for (int i = 1; i <= number / i; ++i) {
    if (number % i != 0) continue;
    small.push_back(i);
    if (i != number / i) large.push_back(number / i);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

/// Divides a number into factors that are as close to each other as possible: the difference
/// between the largest and the smallest is least; then the smallest is largest, then the next.
class division {
 public:
  division(int product, std::size_t count) : divisors_(divisors_of(product)), trial_(count) {
    if (count > 0) extend(product, count, 1);
  }
  /// The best factors, in decreasing order.
  [[nodiscard]] const std::vector<int>& factors() const noexcept { return best_; }

 private:
  /// Chooses `left` more factors of at least `least`, the smallest first and as large as possible.
  void extend(int rest, std::size_t left, int least) {
    if (left == 1) {
      if (rest < least || (!best_.empty() && rest - trial_.back() >= spread_)) return;
      trial_[0] = rest;
      spread_ = rest - trial_.back();
      best_ = trial_;
      return;
    }
    // All other factors are at least as large: none is larger than the root of what is left.
    auto each = std::ranges::upper_bound(divisors_, static_cast<double>(rest), {},
                                         [&](int d) { return std::pow(d, left); });
    while (each != divisors_.begin() && *--each >= least) {
      if (rest % *each != 0) continue;
      trial_[left - 1] = *each;
      const int others = rest / *each;
      const int most = trial_.back() + spread_ - 1;  // of the largest, to be better than `best_`
      if (!best_.empty() && std::pow(most, left - 1) < static_cast<double>(others)) return;
      extend(others, left - 1, *each);
    }
  }

  const std::vector<int> divisors_;
  std::vector<int> trial_, best_;
  int spread_ = 0;  // of `best_`
};

}  // namespace

int topo_test(communicator& comm, int& status) {
  status = comm.topology ? comm.topology->kind() : MPI_UNDEFINED;
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
  if (open == 0 && rest != 1) {
    return fail(MPI_ERR_DIMS, "the given dimensions do not multiply to {}", nnodes);
  }
  const division divided(rest, open);
  auto next = divided.factors().begin();
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] == 0) dims[i] = *next++;
  }
  return MPI_SUCCESS;
}

}  // namespace headway::mpi::calls
