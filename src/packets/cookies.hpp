#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "packets/bundle/replay_ring.hpp"
#include "packets/send_item.hpp"
#include "rails/driver.hpp"

namespace headway::packets {

/// The cookie of a posted packet, which the driver returns with the event: an item, or a frame of a
/// bundle.
/// Shape:    the address; bit 0, which is free in both, distinguishes them.
class send_cookie {
 public:
  explicit send_cookie(send_item& item) noexcept : word_(reinterpret_cast<std::uintptr_t>(&item)) {}
  explicit send_cookie(replay_ring::frame& frame) noexcept
      : word_(reinterpret_cast<std::uintptr_t>(&frame) | frame_bit) {}
  /// From the cookie of an event.
  explicit send_cookie(std::uint64_t word) noexcept : word_(word) {}

  [[nodiscard]] std::uint64_t word() const noexcept { return word_; }
  [[nodiscard]] bool is_frame() const noexcept { return (word_ & frame_bit) != 0; }
  [[nodiscard]] send_item& item() const noexcept {
    HEADWAY_DEBUG_ASSERT(!is_frame() && word_ != 0);
    return *reinterpret_cast<send_item*>(word_);
  }
  [[nodiscard]] replay_ring::frame& frame() const noexcept {
    HEADWAY_DEBUG_ASSERT(is_frame());
    return *reinterpret_cast<replay_ring::frame*>(word_ - frame_bit);
  }

 private:
  static constexpr std::uint64_t frame_bit = 1;
  static_assert(alignof(send_item) > frame_bit && alignof(replay_ring::frame) > frame_bit);
  std::uint64_t word_;
};

}  // namespace headway::packets
