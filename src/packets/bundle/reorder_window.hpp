#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headway::packets {

/// Puts the frames of one peer, which come over several rails and perhaps twice, into their order.
/// Shape:    `frame_count` frames, at least what the peer keeps unacknowledged; frames that are
///           too early are copied. A slot keeps its memory for later frames.
/// Threads:  none; the caller is in section R.
/// Errors:   a frame outside the window comes from a peer that breaks the protocol, or is old.
class reorder_window {
 public:
  static constexpr std::size_t frame_count = 512;

  enum class answer : std::uint8_t {
    now,        ///< the one that is due: take it, then call `taken`
    early,      ///< kept
    duplicate,  ///< was here before
    nonsense,   ///< ahead of the window: a correct peer does not send it yet
  };

  [[nodiscard]] std::uint32_t due() const noexcept { return due_; }

  struct frame {
    std::vector<std::byte> bytes;  // from operator new: aligned for any head
    std::uint16_t packets = 0;
    bool full = false;
  };

  [[nodiscard]] answer arrived(std::uint32_t number, std::uint16_t packets,
                               std::span<const std::byte> bytes) {
    const auto ahead = static_cast<std::int32_t>(number - due_);
    if (ahead < 0) return answer::duplicate;
    if (ahead == 0) return answer::now;
    if (ahead >= static_cast<std::int32_t>(frame_count)) return answer::nonsense;
    frame& f = frames_[number % frame_count];
    if (f.full) return answer::duplicate;
    f.bytes.assign(bytes.begin(), bytes.end());
    f.packets = packets;
    f.full = true;
    return answer::early;
  }
  /// The frame that was due is done with.
  void taken() noexcept { frames_[due_++ % frame_count].full = false; }
  /// The frame that is due, if it came early.
  [[nodiscard]] const frame* next() const noexcept {
    const frame& f = frames_[due_ % frame_count];
    return f.full ? &f : nullptr;
  }

 private:
  std::array<frame, frame_count> frames_;
  std::uint32_t due_ = 0;
};

}  // namespace headway::packets
