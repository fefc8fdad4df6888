#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "mpi/communicators/communicator.hpp"

namespace headway::mpi {

/// Every member brings `mine`; afterwards `all` holds them in rank order, those of both groups of
/// an inter-communicator as `everybody` has them. Waits.
/// False: a member was lost.
[[nodiscard]] bool gather_from_all(communicator& comm, int tag, std::span<const std::byte> mine,
                                   std::vector<std::byte>& all);

/// A communicator of these processes, not open yet, with `parent`'s error handler. With `other` an
/// inter-communicator.
[[nodiscard]] communicator* make_communicator(communicator& parent,
                                              processes::membership_ref members, int rank,
                                              std::optional<communicator::remote_side> other = {});

/// All members of `parent` agree on a context id, and the new communicator, if this process is in
/// one, is opened under it. Waits. On error the communicator is gone, and an error code returned.
[[nodiscard]] int agree_and_open(communicator& parent, communicator*& made);
/// The same among `who`, a part of `parent`'s members. `tag` tells them apart from others that
/// agree at the same time; only its lower 30 bits count.
[[nodiscard]] int agree_and_open(communicator& parent, const processes::membership_ref& who,
                                 int tag, communicator*& made);

/// A number for such a tag, made of the program's text.
[[nodiscard]] constexpr int agreement_tag_of(std::string_view text) noexcept {
  const auto hash = base::hash_of(text);
  return static_cast<int>((hash ^ hash >> 32) & 0x7fffffff);
}

}  // namespace headway::mpi
