#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

namespace headway::packets {

/// Restores the order of the frames of one peer, which arrive over several rails and perhaps twice.
/// Shape:    `frame_count` frames, at least what the peer keeps unacknowledged; frames that are
///           too early are copied. A slot keeps its memory for later frames.
/// Threads:  the caller is in section R.
/// Errors:   a frame outside the window is old, or its sender violates the protocol.
class reorder_window {
 public:
  static constexpr std::size_t frame_count = 512;

  enum class answer : std::uint8_t {
    now,        ///< the next frame: take it, then call `taken`
    early,      ///< kept
    duplicate,  ///< has arrived before
    nonsense,   ///< ahead of the window: a correct peer cannot have sent it yet
    no_memory,  ///< early, and not kept
  };

  [[nodiscard]] std::uint32_t due() const noexcept { return due_; }

  struct frame {
    std::vector<std::byte> bytes;  // from operator new: aligned for any head
    std::uint16_t packets = 0;
    bool full = false;
  };

  [[nodiscard]] answer arrived(std::uint32_t number, std::uint16_t packets,
                               std::span<const std::byte> bytes) noexcept {
    const auto ahead = static_cast<std::int32_t>(number - due_);
    if (ahead < 0) return answer::duplicate;
    if (ahead == 0) return answer::now;
    if (ahead >= static_cast<std::int32_t>(frame_count)) return answer::nonsense;
    frame& f = frames_[number % frame_count];
    if (f.full) return answer::duplicate;
    try {
      f.bytes.assign(bytes.begin(), bytes.end());
    } catch (const std::bad_alloc&) {
      return answer::no_memory;
    }
    f.packets = packets;
    f.full = true;
    return answer::early;
  }
  /// The next frame has been taken.
  void taken() noexcept { frames_[due_++ % frame_count].full = false; }
  /// The next frame, if it came early and was kept.
  [[nodiscard]] const frame* next() const noexcept {
    const frame& f = frames_[due_ % frame_count];
    return f.full ? &f : nullptr;
  }

 private:
  std::array<frame, frame_count> frames_;
  std::uint32_t due_ = 0;
};

}  // namespace headway::packets
