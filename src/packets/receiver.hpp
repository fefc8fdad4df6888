#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headway::packets {

class peer;

/// A module above, which gets the packets that arrive. Called inside polling rounds, one call at a
/// time per rail; must not wait or poll.
class receiver {
 public:
  /// A packet of that module: head, then payload. Readable during the call only.
  virtual void arrived(peer& from, std::span<const std::byte> bytes) noexcept = 0;
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
