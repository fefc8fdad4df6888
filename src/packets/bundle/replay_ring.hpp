#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/assert.hpp"
#include "packets/posted_packet.hpp"

namespace headway::packets {

/// Keeps the frames that a peer has not acknowledged yet, so that they can be sent again.
///
/// Shape:    at most `frame_count` frames in one piece of memory of `bytes`, oldest first; the
///           memory is taken with the first frame. Frames have numbers that rise by one.
/// Threads:  `acknowledged` and `let_go` by the reaper, the rest by the holder of the scheduler's
///           mask, at the same time.
/// Progress: never waits. Full is an ordinary answer.
template <template <class> class Atomic = std::atomic, std::size_t frame_count = 512>
class basic_replay_ring {
  // A frame's memory belongs to the sender from `reserve` to `reclaim`; in between `readers`
  // drivers read it. Hazards, and the edge that removes each:
  //   memory written again while a driver reads it        (R) release -> (F) acquire
  //   memory written again before the peer has it         (K) release -> (G) acquire; the frame
  //     may still be sent again as long as (G) has not shown its acknowledgement
  // Checked by: tests/model/replay_ring_model.cpp.
 public:
  static_assert((frame_count & (frame_count - 1)) == 0);
  struct frame : posted_packet {
    frame() noexcept : posted_packet(posted_kind::frame) {}
    std::uint8_t lane = 0;  ///< of the lane that carried it last
    std::uint16_t packets = 0;
    std::uint32_t bytes = 0;
    std::byte* memory = nullptr;
    double departure = 0;  ///< from that lane, as predicted: rail_departures::mark
    Atomic<std::uint32_t> readers{0};
  };

  explicit basic_replay_ring(std::size_t bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] bool empty() const noexcept { return oldest_ == next_; }
  [[nodiscard]] std::uint32_t oldest() const noexcept { return oldest_; }
  [[nodiscard]] std::uint32_t next() const noexcept { return next_; }  ///< of the next frame
  [[nodiscard]] frame& at(std::uint32_t number) noexcept {
    return frames_[number & (frame_count - 1)];
  }
  [[nodiscard]] std::uint32_t acknowledged_so_far() const noexcept {
    return acknowledged_.load(std::memory_order_acquire);  // (G)
  }

  /// Whether so many numbers are free.
  [[nodiscard]] bool holds(std::size_t more) const noexcept {
    return next_ - oldest_ + more <= frame_count;
  }

  /// Memory for a frame of up to `most` bytes, which becomes frame number `next()` by `commit`.
  /// Null: no room until older ones are reclaimed.
  [[nodiscard]] std::byte* reserve(std::size_t most) noexcept {
    if (next_ - oldest_ == frame_count) return nullptr;
    if (!memory_) memory_.reset(new (std::align_val_t{64}, std::nothrow) std::byte[bytes_]);
    if (!memory_) return nullptr;
    if (empty()) begin_ = end_ = 0;
    const bool wrapped = end_ < begin_ || (end_ == begin_ && !empty());
    if (wrapped) return begin_ - end_ >= most ? memory_.get() + end_ : nullptr;
    if (bytes_ - end_ >= most) return memory_.get() + end_;
    // the end of the memory stays unused for this lap
    return begin_ >= most ? memory_.get() : nullptr;
  }
  /// Ends a `reserve`: its memory holds a frame of so many bytes.
  void commit(std::byte* memory, std::size_t bytes, std::uint16_t packets) noexcept {
    HEADWAY_DEBUG_ASSERT(holds(1) && memory >= memory_.get());
    HEADWAY_DEBUG_ASSERT(static_cast<std::size_t>(memory - memory_.get()) + bytes <= bytes_);
    frame& f = at(next_++);
    f.memory = memory;
    f.bytes = static_cast<std::uint32_t>(bytes);
    f.packets = packets;
    end_ = static_cast<std::size_t>(memory - memory_.get()) + ((bytes + 63) & ~std::size_t{63});
    if (end_ > bytes_) end_ = bytes_;
  }
  /// Takes back the last `commit`: the frame was not given to a driver.
  void undo() noexcept {
    HEADWAY_DEBUG_ASSERT(!empty());
    end_ = static_cast<std::size_t>(at(--next_).memory - memory_.get());
  }

  /// `hold`: a driver begins to read the frame. `let_go`, from any thread: it has finished.
  static void hold(frame& f) noexcept {
    f.readers.fetch_add(1, std::memory_order_relaxed);  // only (R) carries something
  }
  static void let_go(frame& f) noexcept {
    f.readers.fetch_sub(1, std::memory_order_release);  // (R)
  }

  /// The peer acknowledges every frame before `number`. False: such a frame was never sent.
  [[nodiscard]] bool acknowledged(std::uint32_t number) noexcept {
    const auto known = acknowledged_.load(std::memory_order_relaxed);  // reapers take turns
    const auto step = static_cast<std::int32_t>(number - known);
    if (step <= 0) return true;  // an older one, overtaken on another rail
    if (step > static_cast<std::int32_t>(frame_count)) return false;
    acknowledged_.store(number, std::memory_order_release);  // (K)
    return true;
  }

  /// Frees the frames that are acknowledged and not being read. Returns how many.
  std::uint32_t reclaim() noexcept {
    const auto until = acknowledged_.load(std::memory_order_acquire);  // (G)
    std::uint32_t count = 0;
    while (oldest_ != next_ && static_cast<std::int32_t>(until - oldest_) > 0) {
      frame& f = at(oldest_);
      if (f.readers.load(std::memory_order_acquire) != 0) break;  // (F)
      ++oldest_;
      ++count;
      if (oldest_ != next_) begin_ = static_cast<std::size_t>(at(oldest_).memory - memory_.get());
    }
    return count;
  }

 private:
  struct free_aligned {
    void operator()(std::byte* p) const noexcept { ::operator delete[](p, std::align_val_t{64}); }
  };

  const std::size_t bytes_;
  std::unique_ptr<std::byte[], free_aligned> memory_;
  std::array<frame, frame_count> frames_;
  std::uint32_t oldest_ = 0;
  std::uint32_t next_ = 0;
  std::size_t begin_ = 0;  // of the oldest frame
  std::size_t end_ = 0;    // behind the newest, rounded up
  Atomic<std::uint32_t> acknowledged_{0};
};

using replay_ring = basic_replay_ring<>;

}  // namespace headway::packets
