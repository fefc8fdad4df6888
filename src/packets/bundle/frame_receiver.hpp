#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "packets/bundle/bundle_host.hpp"
#include "packets/bundle/reorder_window.hpp"
#include "packets/frames.hpp"

namespace headway::packets {

class frame_sender;

/// The receiving side of a bundle: restores the order of frames, drops duplicates, delivers the
/// packets, and requests acknowledgements when they are due.
/// Shape:    frames that came early are kept; the window bounds them.
/// Threads:  R, the set's section.
class frame_receiver {
 public:
  frame_receiver(const bundle_context& of, frame_sender& sender, std::size_t ring_bytes) noexcept
      : of_(of), sender_(sender), ring_bytes_(ring_bytes) {}

  /// A frame of data.
  void arrived(const frame_head& head, std::span<const std::byte> contents) noexcept;
  /// What was received since the last acknowledgement is acknowledged in the next round.
  void acknowledge_now() noexcept;
  /// Some received frames are not acknowledged yet.
  [[nodiscard]] bool owes() const noexcept;

 private:
  void take_frame(std::span<const std::byte> contents, std::size_t packets) noexcept;
  void take_part(std::span<const std::byte> contents, std::size_t packets) noexcept;
  void take_packets(std::span<const std::byte> contents, std::size_t packets) noexcept;

  const bundle_context& of_;
  frame_sender& sender_;
  reorder_window window_;
  std::vector<std::byte> parts_;  // of a frame that continues in the next one
  const std::size_t ring_bytes_;
  std::size_t owed_bytes_ = 0;  // received since the last acknowledgement
};

}  // namespace headway::packets
