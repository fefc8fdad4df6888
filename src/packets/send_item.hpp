#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "rails/memory.hpp"

namespace headway::packets {

class strategy;

/// The first bytes of every packet. `credit` is filled by the peer's stream when it is sent.
struct stream_head {
  std::uint32_t credit = 0;  ///< eager bytes of the receiver's that we have used up, modulo 2^32
  std::uint8_t kind = 0;     ///< `own_kind`, or a module's above: from `beside_kinds` on of
                             ///< `endpoints`, the rest of `messages`
  std::uint8_t zero[3] = {};
};

/// Packets of this kind are this module's own: see control.hpp.
constexpr std::uint8_t own_kind = 0;
/// Packets of these kinds go to the receiver given to `peers::share`, others to that of `start`.
constexpr std::uint8_t beside_kinds = 64;

/// A packet on its way, embedded in what it belongs to.
/// Shape:    `head` is copied when the packet is taken; `payload` is the user's memory.
/// Threads:  its owner's until `post`, the stream's until `sent`.
struct send_item {
  static constexpr std::size_t head_bytes_max = 48;

  alignas(8) std::array<std::byte, head_bytes_max> head;  // left unset: written whole by its owner
  std::uint8_t head_bytes = 0;                            ///< 0: `payload` is put into `target`
  /// Completed by the peer's reply, not by local send completion: `sent(true)` is not called, and
  /// the item may be gone as soon as the driver has taken it.
  bool answered = false;
  bool urgent = false;  ///< may pass packets that are not urgent: other transfers wait for it
  /// Eager bytes that the receiver may have to store; 0 for what it need not store.
  std::uint32_t charge = 0;
  std::span<const std::byte> payload;
  const strategy* how = nullptr;  ///< of its communicator; null: of the peer

  /// Called once if `post` answered `pending`: true, payload and head may be reused; false, the
  /// peer is lost. From any thread; must not wait or poll. The item may be gone when it returns.
  void (*sent)(send_item& self, bool well) noexcept = nullptr;
  /// Called when the peer's credits do not suffice for `charge`: makes it a packet that needs none
  /// (a request to send) that will be `answered`, with `payload` empty and `charge` 0.
  void (*fall_back_to_rts)(send_item& self) noexcept = nullptr;

  rails::ticket target = {};              ///< of another process, for a payload without a head
  std::atomic<send_item*> next{nullptr};  // the stream's
};

/// `head`: a struct of the wire, of at most `head_bytes_max` bytes.
template <class Head>
void write_head(send_item& item, const Head& head) noexcept {
  static_assert(sizeof head <= send_item::head_bytes_max);
  std::memcpy(item.head.data(), &head, sizeof head);
  item.head_bytes = sizeof head;
}

/// False: the packet is too short for such a head.
template <class Head>
[[nodiscard]] bool read_head(std::span<const std::byte> bytes, Head& head) noexcept {
  if (bytes.size() < sizeof head) return false;
  std::memcpy(static_cast<void*>(&head), bytes.data(), sizeof head);
  return true;
}

}  // namespace headway::packets
