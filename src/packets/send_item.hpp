#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "packets/posted_packet.hpp"
#include "rails/memory.hpp"

namespace headway::packets {

class strategy;

/// The first bytes of every packet. `credit` is written when the packet is sent.
struct stream_head {
  /// eager bytes of the receiver's that are no longer stored here, modulo 2^32
  std::uint32_t credit = 0;
  /// `own_kind`, or that of a module above: from `beside_kinds` on of `endpoints`, the rest of
  /// `messages`
  std::uint8_t kind = 0;
  std::uint8_t zero[3] = {};
};

/// The kind of this module's own packets: see control.hpp.
constexpr std::uint8_t own_kind = 0;
/// Packets of this kind and above go to the receiver given to `peers::share`, others to that of
/// `start`.
constexpr std::uint8_t beside_kinds = 64;

/// A packet to be sent, embedded in what it belongs to.
/// Shape:    `head` is copied when the packet is taken; `payload` is the user's memory.
/// Threads:  its owner's until `post`, the scheduler's until `sent`.
struct send_item : posted_packet {
  static constexpr std::size_t head_bytes_max = 48;

  send_item() noexcept : posted_packet(posted_kind::item) {}

  std::uint8_t head_bytes = 0;  ///< 0: `payload` is put into `target`
  /// Completed by the peer's reply, not by local send completion: `sent(true)` is not called, and
  /// the item may be gone as soon as the driver has taken it.
  bool answered = false;
  bool in_parts = false;  ///< may be received in parts (`receiver::begun`): only `messages` does
  bool can_wait = false;  ///< see rails::packet
  bool lent = false;      ///< see rails::packet; the owner calls `peer::reclaim` at its end
  bool urgent = false;    ///< passes packets that are not urgent and wait for the same rail
  /// Eager bytes that the receiver may have to store; 0: it need not store them.
  std::uint32_t charge = 0;
  /// Packets of the same flow do not pass each other, whichever of them are urgent; 0: of none.
  std::uint32_t flow = 0;
  // uninitialised: its owner writes it whole
  alignas(8) std::array<std::byte, head_bytes_max> head;
  std::span<const std::byte> payload;
  const strategy* how = nullptr;  ///< of its communicator; null: of the peer

  /// Called once if `post` answered `pending`. True: payload and head may be reused; false: the
  /// peer is lost. From any thread; must not wait or poll. The item may be gone when it returns.
  void (*sent)(send_item& self, bool well) noexcept = nullptr;
  /// Called when the peer's credits do not suffice for `charge`: turns the item into a packet that
  /// needs none, a request to send, which is `answered` and has no `payload` and no `charge`.
  void (*fall_back_to_rts)(send_item& self) noexcept = nullptr;

  rails::ticket target = {};              ///< of another process, for a payload without a head
  std::atomic<send_item*> next{nullptr};  // used by the scheduler
  /// It waits to be given to a rail, so nothing that arrives can be an answer to it. Written by the
  /// scheduler; relaxed, because an honest answer has followed the packet to its peer and back.
  std::atomic<bool> waits{false};
};

/// Of head and payload together.
[[nodiscard]] inline std::size_t packet_bytes(const send_item& item) noexcept {
  return item.head_bytes + item.payload.size();
}

/// A packet that is sent at once or not at all: see `peer::post_now`.
struct prompt_packet {
  std::span<std::byte> head;  ///< as in an item
  std::span<const std::byte> payload = {};
  std::uint32_t charge = 0;  ///< as in an item
  bool can_wait = false;     ///< as in an item
};

/// Writes `head`, a struct of the wire format, of at most `head_bytes_max` bytes.
template <class Head>
void write_head(send_item& item, const Head& head) noexcept {
  static_assert(sizeof head <= send_item::head_bytes_max);
  std::memcpy(item.head.data(), &head, sizeof head);
  item.head_bytes = sizeof head;
  item.in_parts = false;
  item.can_wait = false;
  item.lent = false;
}

/// False: the packet is too short for such a head.
template <class Head>
[[nodiscard]] bool read_head(std::span<const std::byte> bytes, Head& head) noexcept {
  if (bytes.size() < sizeof head) return false;
  std::memcpy(static_cast<void*>(&head), bytes.data(), sizeof head);
  return true;
}

}  // namespace headway::packets
