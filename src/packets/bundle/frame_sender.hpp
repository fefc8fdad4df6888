#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "packets/bundle/bundle_host.hpp"
#include "packets/bundle/part_sender.hpp"
#include "packets/bundle/replay_ring.hpp"
#include "packets/credits.hpp"
#include "packets/frames.hpp"
#include "packets/packet_sender.hpp"

namespace headway::packets {

struct lane;

/// The sending side of a bundle: packets leave in numbered frames. Each is kept until the peer has
/// acknowledged it, and is sent again over another rail when its own is lost.
///
/// Shape:    frames and bytes kept are bounded by the ring.
/// Threads:  S, the holder of the scheduler's mask. Functions marked [any] or [R] only set a flag
///           that the next round in S reads.
/// Source:   acknowledgements after TCP (RFC 9293).
class frame_sender final : public packet_sender {
  // The flags are relaxed: they carry no data, and each is followed by a `pump`, which makes sure
  // that another round in S begins.
 public:
  static constexpr std::uint8_t no_lane = 0xff;

  frame_sender(const bundle_context& of, credit_account& credits, progress::engine& engine,
               std::size_t ring_bytes)
      : of_(of), credits_(credits), ring_(ring_bytes), parts_(*this, of, engine) {}

  /// A lane was added.
  void bound_frames(std::size_t eager_bytes_max) noexcept;
  [[nodiscard]] std::size_t frame_bytes_max() const noexcept { return frame_bytes_max_; }

  // packet_sender, in S:
  [[nodiscard]] bool prepare() noexcept override;
  [[nodiscard]] int idle_rail(std::uint32_t passed_over, std::size_t bytes) const noexcept override;
  [[nodiscard]] std::size_t describe(std::span<rail_state> states) const noexcept override;
  [[nodiscard]] limits room() const noexcept override {
    return {.wanted = {.packets_max = SIZE_MAX, .bytes_max = frame_bytes_max_ / 2},
            .bytes_max = frame_bytes_max_};
  }
  [[nodiscard]] bool send_in_parts(std::uint32_t on, send_item& item) noexcept override {
    return parts_.send(on, item);
  }
  [[nodiscard]] answer send(std::uint32_t on, std::span<send_item* const> chosen) noexcept override;
  void finish(bool flowing) noexcept override;
  void drop() noexcept override;

  // [S] For `part_sender`:
  [[nodiscard]] replay_ring& ring() noexcept { return ring_; }
  [[nodiscard]] credit_account& credits() noexcept { return credits_; }
  [[nodiscard]] std::size_t write(std::span<send_item* const> chosen, std::byte* memory) noexcept;
  [[nodiscard]] frame_head head_of(std::uint32_t number) noexcept;
  [[nodiscard]] answer send_frame(std::uint32_t number, std::uint32_t on) noexcept;
  /// The rail has not accepted the frame: other rails are tried before later frames leave.
  void send_again(std::uint32_t number) noexcept;

  // Flags for S:
  /// [R] All frames of the peer before this number were received.
  void received(std::uint32_t due) noexcept { due_.store(due, std::memory_order_relaxed); }
  /// [R] The number that was last sent to the peer as acknowledged.
  [[nodiscard]] std::uint32_t told() const noexcept {
    return told_seen_.load(std::memory_order_relaxed);
  }
  /// [R] An acknowledgement is to be sent soon; `again`: even if it repeats the last one.
  void acknowledge(bool again = false) noexcept;
  /// [any] Sends a question on each rail.
  void ask() noexcept { ask_now_.store(true, std::memory_order_relaxed); }
  /// [any] Before the first data in either direction: sends a question on each rail, to see on
  /// which ones the peer answers.
  void probe() noexcept;
  [[nodiscard]] bool probed() const noexcept { return probed_.load(std::memory_order_relaxed); }
  /// [R] The peer has sent a question on this rail: it is answered there.
  void answer_on(std::uint32_t number) noexcept {
    answer_lanes_.fetch_or(1u << number, std::memory_order_relaxed);
  }
  /// [R] Frames that this rail carried must be sent again.
  void lane_died(std::uint32_t number) noexcept {
    dead_lanes_.fetch_or(1u << number, std::memory_order_relaxed);
  }
  /// [R] A rail was added or has come back.
  void unblock() noexcept { unblock_.store(true, std::memory_order_relaxed); }
  /// [R] The peer has acknowledged every frame before `number`. False: such a frame was never sent.
  [[nodiscard]] bool acknowledged(std::uint32_t number) noexcept {
    return ring_.acknowledged(number);
  }

  // In S:
  /// Bits of the rails with frames that are not acknowledged.
  [[nodiscard]] std::uint32_t owing_lanes() noexcept;
  /// No frame is kept, and everything received is acknowledged.
  [[nodiscard]] bool at_rest() noexcept;
  void unblock(std::size_t rail_index) noexcept;

 private:
  [[nodiscard]] bool resend() noexcept;
  void collect_dead() noexcept;
  void unblock_all() noexcept;
  void reclaim() noexcept;
  bool send_word(lane& l, frame_kind kind) noexcept;
  void send_words() noexcept;
  void send_acknowledgement() noexcept;

  const bundle_context& of_;
  credit_account& credits_;
  replay_ring ring_;
  part_sender parts_;
  std::size_t frame_bytes_max_ = SIZE_MAX;  // constant once the peer is known
  // S:
  bool resending_ = false;       // some frames have lost their rail, or were not accepted
  bool pieces_wait_ = false;     // at the last look
  std::uint32_t asking_ = 0;     // lanes on which a question is still to be sent …
  std::uint32_t answering_ = 0;  // … and an answer
  std::uint32_t told_ = 0;       // the number last acknowledged to the peer
  std::atomic<std::uint32_t> told_seen_{0};  // the same, for R
  // To S:
  std::atomic<std::uint32_t> due_{0};  // what is to be acknowledged
  std::atomic<std::uint32_t> dead_lanes_{0};
  std::atomic<std::uint32_t> answer_lanes_{0};
  std::atomic<bool> acknowledge_now_{false};
  std::atomic<bool> told_stale_{false};  // repeat the last acknowledgement
  std::atomic<bool> ask_now_{false};
  std::atomic<bool> probed_{false};
  std::atomic<bool> unblock_{false};
};

}  // namespace headway::packets
