#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "packets/frames.hpp"
#include "packets/send_item.hpp"

namespace headway::packets {

/// Collects small packets that follow each other closely in one frame that has not left yet, for a
/// rail on which sending is a system call.
///
/// A packet leaves at once unless `run_min` others left just before it, each within `gap_ns` of the
/// one before: after such a run, more packets are to be expected.
///
/// Shape:    takes its memory when it is opened; nothing allocates afterwards.
/// Threads:  the holder of the scheduler's mask.
/// Source:   multirail08 (collect, optimise, transfer); the rule of endpoints/wire/packing.hpp.
class collected_frame {
 public:
  static constexpr std::size_t frame_bytes_max = 4096;
  static constexpr std::uint32_t run_min = 2;
  static constexpr std::uint64_t gap_ns = 2'000;

  explicit collected_frame(base::clock clock) noexcept : clock_(clock) {}

  /// Before the first packet. `bytes_max`: what the rail takes at once without posting it.
  void open(std::size_t bytes_max) {
    HEADWAY_ASSERT(!is_open() && bytes_max > 0);
    room_ = std::min(bytes_max, frame_bytes_max);
    memory_ = std::make_unique_for_overwrite<std::byte[]>(room_);
  }
  [[nodiscard]] bool is_open() const noexcept { return room_ != 0; }
  [[nodiscard]] bool empty() const noexcept { return packets_ == 0; }
  /// For larger packets the copy costs more than the shared frame saves.
  [[nodiscard]] bool may_hold(const send_item& item) const noexcept {
    return item.head_bytes != 0 && room_in_frame(item) <= room_ / 4;
  }
  [[nodiscard]] bool fits(const send_item& item) const noexcept {
    return used_ + room_in_frame(item) <= room_;
  }
  /// Whether the next packet follows others closely.
  [[nodiscard]] bool in_a_run() noexcept {
    if (clock_.now_ns() - last_ns_ > gap_ns) length_ = 0;
    return length_++ >= run_min;
  }
  /// A packet has just been sent or collected.
  void went() noexcept { last_ns_ = clock_.now_ns(); }

  void add(send_item& item, std::uint32_t credit) noexcept {
    HEADWAY_DEBUG_ASSERT(fits(item));
    send_item* const one[] = {&item};
    used_ += write_packets(one, credit, memory_.get() + used_);
    ++packets_;
  }
  [[nodiscard]] frame_head head() const noexcept {
    return {.kind = frame_kind::together,
            .packets = packets_,
            .bytes = static_cast<std::uint32_t>(used_)};
  }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {memory_.get(), used_}; }
  void clear() noexcept {
    used_ = 0;
    packets_ = 0;
  }

 private:
  const base::clock clock_;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t room_ = 0;
  std::size_t used_ = 0;
  std::uint16_t packets_ = 0;
  std::uint32_t length_ = 0;  // of the current run, in packets
  std::uint64_t last_ns_ = 0;
};

}  // namespace headway::packets
