#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/assert.hpp"
#include "messages/numbers.hpp"
#include "packets/send_item.hpp"
#include "packets/transfer/transfer.hpp"

namespace headway::messages {

/// The kinds of packets of this module, and their headers. Both ends are the same build on machines
/// of one byte order.
enum class wire_kind : std::uint8_t {
  eager = 1,            ///< envelope, then the message
  request_to_send = 2,  ///< `rts`: announces a message that the receiver fetches
  given_up = 3,  ///< `notice_head`: its sender has given up the collective operation of its tag
  inquiry = 4,   ///< `notice_head`, then operation_log::copy: its sender waits in vain
  misfit = 5,    ///< `notice_head`, then operation_log::misfit
};

/// The header of an eager message; begins like packets::stream_head. 16 bytes, so that a message of
/// up to 40 bytes and its envelope share one cache line in shared memory.
struct envelope {
  std::uint32_t credit = 0;
  wire_kind kind = wire_kind::eager;
  std::uint8_t given_up = 0;  ///< 1: the sender failed, and this replaces its message
  std::uint16_t context = 0;
  std::uint32_t source = 0;  ///< rank in the communicator, and above it `label::history`
  std::int32_t tag = 0;
};
static_assert(sizeof(envelope) == 16);

/// What the rank of a sender has in an envelope and in the matching: messages of another history
/// never meet.
[[nodiscard]] constexpr std::uint32_t source_of(int rank, std::uint16_t history) noexcept {
  HEADWAY_DEBUG_ASSERT(rank < ranks_max && history < 1u << label::history_bits);
  return static_cast<std::uint32_t>(rank) | std::uint32_t{history} << rank_bits;
}
[[nodiscard]] constexpr int rank_in(std::uint32_t source) noexcept {
  return static_cast<int>(source % ranks_max);
}

/// The request to send a large message.
struct rts {
  envelope match;
  std::uint64_t bytes = 0;
  packets::announced message;
};
static_assert(sizeof(rts) == 40 && sizeof(rts) <= packets::send_item::head_bytes_max);

/// Of what concerns a collective context itself. No rank waits for a notice, so that it may come
/// when its context is closed and another one has the number.
struct notice_head {
  envelope match;
  std::uint64_t incarnation = 0;  ///< of `match.context`
};
static_assert(sizeof(notice_head) == 24 &&
              sizeof(notice_head) <= packets::send_item::head_bytes_max);

/// The credits, in bytes, that an eager message occupies at its receiver: payload and bookkeeping.
[[nodiscard]] constexpr std::uint32_t eager_charge(std::size_t payload_bytes) noexcept {
  return static_cast<std::uint32_t>(payload_bytes) + 128;
}

using packets::read_head;
using packets::write_head;

}  // namespace headway::messages
