#include "mpi/topologies/attach.hpp"

#include <algorithm>
#include <numeric>

#include "mpi/communicators/creation.hpp"

namespace headway::mpi {

int create_with_topology(communicator& parent, std::span<const int> order,
                         process_topology::shape what, communicator*& made) {
  const int rank = position_in(order, parent.rank());
  if (rank != MPI_UNDEFINED) {
    std::vector<processes::peer_id> members;
    members.reserve(order.size());
    for (const int each : order) members.push_back(parent.members()[each]);
    made = make_communicator(parent, memberships().intern(members), rank);
    made->topology = std::make_shared<process_topology>(std::move(what), rank);
  }
  return agree_and_open(parent, made);
}

std::vector<int> same_order(int count) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

int position_in(std::span<const int> order, int rank) noexcept {
  const auto at = std::ranges::find(order, rank);
  return at == order.end() ? MPI_UNDEFINED : static_cast<int>(at - order.begin());
}

}  // namespace headway::mpi
