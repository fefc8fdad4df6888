#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "mpi/communicators/communicator.hpp"

namespace headway::mpi {

/// An allgather: `all` gets the bytes `mine` of all members, in rank order; those of both groups of
/// an inter-communicator in the order of `everybody`. Waits. False: a member was lost.
[[nodiscard]] bool gather_from_all(communicator& comm, int tag, std::span<const std::byte> mine,
                                   std::vector<std::byte>& all);

/// The same with a value of each member, in an agreement of its own.
template <class T>
[[nodiscard]] bool gather_values(communicator& comm, const T& mine, std::vector<T>& all) {
  std::vector<std::byte> bytes;
  if (!gather_from_all(comm, comm.next_agreement_tag(), std::as_bytes(std::span(&mine, 1)), bytes))
    return false;
  all.resize(static_cast<std::size_t>(comm.size()));
  std::memcpy(static_cast<void*>(all.data()), bytes.data(), bytes.size());
  return true;
}

/// Makes a communicator of these processes, not yet open, with `parent`'s error handler and
/// origin; an inter-communicator if there is an `other` group.
[[nodiscard]] communicator* make_communicator(communicator& parent,
                                              processes::membership_ref members, int rank,
                                              std::optional<communicator::remote_side> other = {});

/// Agrees on a context id with all members of `parent`, and opens `made`, which is null in
/// processes that are in no new communicator. Waits. On error frees `made` and returns an error
/// code.
[[nodiscard]] int agree_and_open(communicator& parent, communicator*& made);
/// The same among `members`, some of `parent`'s. `tag` separates concurrent agreements; only its
/// lower 30 bits count.
[[nodiscard]] int agree_and_open(communicator& parent, const processes::membership_ref& members,
                                 int tag, communicator*& made);

/// A number for such a tag, made of the program's text.
[[nodiscard]] constexpr int agreement_tag_of(std::string_view text) noexcept {
  const auto hash = base::hash_of(text);
  return static_cast<int>((hash ^ hash >> 32) & 0x7fffffff);
}

}  // namespace headway::mpi
