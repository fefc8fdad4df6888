#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headway::packets {

class peer;

/// Where a receiver puts a packet in parts; only it knows what the words mean.
struct packet_in_parts {
  void* expected = nullptr;
  void* unexpected = nullptr;
  std::size_t bytes = 0;
};

/// A module above, which gets the packets that arrive. Called inside polling rounds, one call at a
/// time per rail; must not wait or poll.
class receiver {
 public:
  /// A packet of that module: head, then payload. Readable during the call only.
  virtual void arrived(peer& from, std::span<const std::byte> bytes) noexcept = 0;
  // A packet that was sent `in_parts`. A module that sends none gets none from a sound peer.
  /// The head and the first bytes: so many follow. Returns what is passed on to the other two.
  virtual packet_in_parts begun(peer& /*from*/, std::span<const std::byte> /*bytes*/,
                                std::size_t /*following*/) noexcept {
    return {};
  }
  /// The next bytes, behind which so many follow.
  virtual void continued(peer& /*from*/, const packet_in_parts& /*what*/,
                         std::span<const std::byte> /*bytes*/, std::size_t /*following*/) noexcept {
  }
  /// Nothing more of it comes: the peer is lost, or the rails are closed.
  virtual void broken_off(const packet_in_parts& /*what*/) noexcept {}
  /// Nothing comes from this process any more, and nothing reaches it. Once per peer.
  virtual void lost(peer& whom) noexcept = 0;

 protected:
  ~receiver() = default;
};

/// The modules above: the one that was given to `peers::start`, and a second one for packets of
/// `beside_kinds` and up. Constant while rails are reaped.
struct receivers {
  receiver* first = nullptr;
  receiver* second = nullptr;

  [[nodiscard]] receiver& of(std::uint8_t kind) const noexcept;
};

}  // namespace headway::packets
