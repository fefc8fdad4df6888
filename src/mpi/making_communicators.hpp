#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mpi/communicator.hpp"

namespace headway::mpi {

/// The next tag for a step that all members of `comm` take in the same order.
[[nodiscard]] int next_agreement_tag(communicator& comm) noexcept;

/// Every member brings `mine`; afterwards `all` holds them in rank order. Waits.
/// False: a member was lost.
[[nodiscard]] bool gather_from_all(communicator& comm, int tag, std::span<const std::byte> mine,
                                   std::vector<std::byte>& all);

/// A communicator of these processes, not open yet, with `parent`'s error handler.
[[nodiscard]] communicator* make_communicator(communicator& parent,
                                              std::shared_ptr<const member_list> members, int rank);

/// All members of `parent` agree on a context id, and the new communicator, if this process is in
/// one, is opened under it. Waits. On error the communicator is gone, and an error code returned.
[[nodiscard]] int agree_and_open(communicator& parent, communicator*& made);
/// The same among some ranks of `parent` only, told apart from others by the program's `tag`.
[[nodiscard]] int agree_and_open(communicator& parent, std::vector<int> members, int me, int tag,
                                 communicator*& made);

}  // namespace headway::mpi
