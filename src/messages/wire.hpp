#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "packets/outgoing.hpp"

namespace headway::messages {

/// What a packet says. Both ends are the same build on machines of one byte order.
enum class wire_kind : std::uint8_t {
  credit_only = packets::credit_only,
  eager = 1,            ///< envelope, then the message
  request_to_send = 2,  ///< offer: a message that waits at the sender
  clear_to_send = 3,    ///< grant: the receiver's answer
};

/// Begins like packets::stream_head. 16 bytes, so that a message of up to 40 bytes and its envelope
/// share one cache line on shared memory.
struct envelope {
  std::uint32_t credit = 0;
  wire_kind kind = wire_kind::eager;
  std::uint8_t given_up = 0;  ///< 1: in place of a message that will never come
  std::uint16_t context = 0;
  std::uint32_t source = 0;  ///< rank in the communicator
  std::int32_t tag = 0;
};
static_assert(sizeof(envelope) == 16);

struct offer {
  envelope match;
  std::uint64_t bytes = 0;
  std::uint32_t send_id = 0;
  std::uint32_t zero = 0;
};
static_assert(sizeof(offer) == 32 && sizeof(offer) <= packets::outgoing::head_bytes_max);

struct grant {
  std::uint32_t credit = 0;
  wire_kind kind = wire_kind::clear_to_send;
  std::uint8_t zero[3] = {};
  std::uint32_t send_id = 0;
  std::uint32_t zone = 0;   ///< the landing zone, or 0 if nothing is to be sent
  std::uint64_t bytes = 0;  ///< how much of the message, from its beginning
};
static_assert(sizeof(grant) == 24 && sizeof(grant) <= packets::outgoing::head_bytes_max);

/// What an eager message may cost its receiver: itself and what it is kept in.
[[nodiscard]] constexpr std::uint32_t eager_charge(std::size_t payload_bytes) noexcept {
  return static_cast<std::uint32_t>(payload_bytes) + 128;
}

template <class Head>
void write_head(packets::outgoing& item, const Head& head) noexcept {
  std::memcpy(item.head.data(), &head, sizeof head);
  item.head_bytes = sizeof head;
}

/// False: the packet is too short for such a head.
template <class Head>
[[nodiscard]] bool read_head(std::span<const std::byte> bytes, Head& head) noexcept {
  if (bytes.size() < sizeof head) return false;
  std::memcpy(&head, bytes.data(), sizeof head);
  return true;
}

}  // namespace headway::messages
