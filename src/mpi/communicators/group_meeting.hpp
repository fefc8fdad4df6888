#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headway::mpi {

class communicator;

/// How the leaders of two groups of processes reach each other before the groups have a
/// communicator: through another communicator (MPI_Intercomm_create), or over a port
/// (MPI_Comm_accept, MPI_Comm_connect).
class leaders_channel {
 public:
  virtual ~leaders_channel() = default;
  /// Exchanges a block; both leaders call it. Waits. False: the other leader is gone.
  [[nodiscard]] virtual bool swap(std::span<const std::byte> mine,
                                  std::vector<std::byte>& theirs) = 0;
  /// Whether the other group comes first where both are one (communicator::remote_side).
  [[nodiscard]] virtual bool remote_is_first() const noexcept = 0;
  /// The same on both sides, and another number for what other leaders do at the same time.
  [[nodiscard]] virtual std::uint32_t number() const noexcept = 0;
};

/// What the leader of a group has: a channel, or the reason why there is none.
struct meeting {
  leaders_channel* channel = nullptr;
  int code = MPI_SUCCESS;
  std::string why = {};
};

/// Makes the inter-communicator of the processes of `local` and of those whose leader is at the
/// other end of the channel. Processes of other jobs are introduced to each other on the way.
/// Collective over both groups; waits. `of_leader` counts on rank `leader` of `local` alone.
/// Errors:   an MPI error code, and nothing is made: that of the leader, MPI_ERR_COMM if a process
///           is in both groups, MPI_ERR_PROC_ABORTED if one is gone; MPI_ERR_OTHER.
[[nodiscard]] int meet_group(communicator& local, int leader, const meeting& of_leader,
                             communicator*& made);

}  // namespace headway::mpi
