#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rails/driver.hpp"

namespace headway::packets {

class strategy;

/// The first bytes of every packet. `credit` is filled by the peer's stream when it is sent.
struct stream_head {
  std::uint32_t credit = 0;  ///< eager bytes of the receiver's that we have used up, modulo 2^32
  std::uint8_t kind = 0;     ///< 0 belongs to this room; from `beside_kinds` on to `endpoints`,
                             ///< the rest is `messages`'
};

constexpr std::uint8_t credit_only = 0;
/// Packets of these kinds go to the receiver given to `peers::share`, others to that of `start`.
constexpr std::uint8_t beside_kinds = 64;

/// A packet on its way, embedded in what it belongs to.
/// Shape:    `head` is copied when the packet is taken; `payload` is the user's memory.
/// Threads:  its owner's until `post`, the stream's until `sent`.
struct outgoing {
  static constexpr std::size_t head_bytes_max = 40;

  alignas(8) std::array<std::byte, head_bytes_max> head;  // left unset: written whole by its owner
  std::uint8_t head_bytes = 0;  ///< 0 for a piece that goes to a landing zone
  /// Being sent does not end it, the peer's answer will: `sent(true)` is not called, and the item
  /// may be gone as soon as the driver has taken it.
  bool answered = false;
  bool urgent = false;  ///< others wait for it, and its place among them means nothing
  rails::landing_id landing = rails::landing_id::none;
  /// Eager bytes that the receiver may have to store; 0 for what it need not store.
  std::uint32_t charge = 0;
  std::span<const std::byte> payload;
  std::uint64_t offset = 0;
  const strategy* how = nullptr;  ///< of its communicator; null: of the peer

  /// Called once if `post` answered `pending`: true, payload and head may be reused; false, the
  /// peer is lost. From any thread; must not wait or poll. The item may be gone when it returns.
  void (*sent)(outgoing& self, bool well) noexcept = nullptr;
  /// Called when the peer's credits do not suffice for `charge`: makes it a packet that needs none
  /// (a request to send) that will be `answered`, with `payload` empty and `charge` 0.
  void (*demote)(outgoing& self) noexcept = nullptr;

  std::atomic<outgoing*> next{nullptr};  // the stream's
};

}  // namespace headway::packets
