#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mpi/communicators/communicator.hpp"

namespace headway::mpi {

/// An allgather: `all` gets the bytes `mine` of all members, in rank order. Waits. False: a member
/// was lost.
[[nodiscard]] bool gather_from_all(communicator& comm, int tag, std::span<const std::byte> mine,
                                   std::vector<std::byte>& all);

/// Makes a communicator of these processes, not yet open, with `parent`'s error handler.
[[nodiscard]] communicator* make_communicator(communicator& parent,
                                              processes::membership_ref members, int rank);

/// Agrees on a context id with all members of `parent`, and opens `made`, which is null in
/// processes that are in no new communicator. Waits. On error frees `made` and returns an error
/// code.
[[nodiscard]] int agree_and_open(communicator& parent, communicator*& made);
/// The same among `members`, some of `parent`'s. `tag` separates concurrent agreements; only its
/// lower 30 bits count.
[[nodiscard]] int agree_and_open(communicator& parent, const processes::membership_ref& members,
                                 int tag, communicator*& made);

}  // namespace headway::mpi
