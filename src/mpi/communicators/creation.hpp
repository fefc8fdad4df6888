#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mpi/communicators/communicator.hpp"

namespace headway::mpi {

/// Every member brings `mine`; afterwards `all` holds them in rank order. Waits.
/// False: a member was lost.
[[nodiscard]] bool gather_from_all(communicator& comm, int tag, std::span<const std::byte> mine,
                                   std::vector<std::byte>& all);

/// A communicator of these processes, not open yet, with `parent`'s error handler.
[[nodiscard]] communicator* make_communicator(communicator& parent,
                                              processes::membership_ref members, int rank);

/// All members of `parent` agree on a context id, and the new communicator, if this process is in
/// one, is opened under it. Waits. On error the communicator is gone, and an error code returned.
[[nodiscard]] int agree_and_open(communicator& parent, communicator*& made);
/// The same among `who`, a part of `parent`'s members. `tag` tells them apart from others that
/// agree at the same time; only its lower 30 bits count.
[[nodiscard]] int agree_and_open(communicator& parent, const processes::membership_ref& who,
                                 int tag, communicator*& made);

}  // namespace headway::mpi
