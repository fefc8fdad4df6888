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

/// The sending side of a bundle: packets leave in numbered frames, which are kept until the peer
/// has acknowledged them and sent again over other rails when theirs is lost.
///
/// Shape:    frames and bytes kept are bounded by the ring.
/// Threads:  S, the holder of the scheduler's mask; what is marked [any] and [R] leaves a word
///           which the next round in S finds.
/// Source:   acknowledgements after TCP (RFC 9293).
class frame_sender final : public packet_sender {
  // The words from R to S are relaxed: they carry nothing, and the `pump` that follows each store
  // sees to it that a round comes behind it.
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

  // For `part_sender`, in S:
  [[nodiscard]] replay_ring& ring() noexcept { return ring_; }
  [[nodiscard]] credit_account& credits() noexcept { return credits_; }
  [[nodiscard]] std::size_t write(std::span<send_item* const> chosen, std::byte* memory) noexcept;
  [[nodiscard]] frame_head head_of(std::uint32_t number) noexcept;
  [[nodiscard]] answer send_frame(std::uint32_t number, std::uint32_t on) noexcept;
  /// Its rail has not taken it: others are tried, before anything behind it leaves.
  void send_again(std::uint32_t number) noexcept;

  // Words to S:
  /// [R] Every frame of the peer's before this one was received.
  void received(std::uint32_t due) noexcept { due_.store(due, std::memory_order_relaxed); }
  /// [R] What the peer was told of that.
  [[nodiscard]] std::uint32_t told() const noexcept {
    return told_seen_.load(std::memory_order_relaxed);
  }
  /// [R] The peer is to be told soon; `again`: though it was.
  void acknowledge(bool again = false) noexcept;
  /// [any] Each rail is to be asked whether the peer answers.
  void ask() noexcept { ask_now_.store(true, std::memory_order_relaxed); }
  /// [any] Before the first data in either direction: which rails does the peer answer on?
  void probe() noexcept;
  [[nodiscard]] bool probed() const noexcept { return probed_.load(std::memory_order_relaxed); }
  /// [R] The peer has asked on this rail.
  void answer_on(std::uint32_t number) noexcept {
    answer_lanes_.fetch_or(1u << number, std::memory_order_relaxed);
  }
  /// [R] Frames of this rail must go again.
  void lane_died(std::uint32_t number) noexcept {
    dead_lanes_.fetch_or(1u << number, std::memory_order_relaxed);
  }
  /// [R] A rail is new.
  void unblock() noexcept { unblock_.store(true, std::memory_order_relaxed); }
  /// [R] The peer has every frame before `number`. False: it cannot have.
  [[nodiscard]] bool acknowledged(std::uint32_t number) noexcept {
    return ring_.acknowledged(number);
  }

  // In S:
  /// Bits of the rails with frames that are not acknowledged.
  [[nodiscard]] std::uint32_t owing_lanes() noexcept;
  /// Nothing is kept, and the peer knows what was received.
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
  bool resending_ = false;                   // some frames' rail is lost, or did not take them
  bool pieces_wait_ = false;                 // at the last look
  std::uint32_t asking_ = 0;                 // bits of lanes still to be asked …
  std::uint32_t answering_ = 0;              // … and answered
  std::uint32_t told_ = 0;                   // what the peer was told to have been received
  std::atomic<std::uint32_t> told_seen_{0};  // the same, for R
  // To S:
  std::atomic<std::uint32_t> due_{0};  // what is to be acknowledged
  std::atomic<std::uint32_t> dead_lanes_{0};
  std::atomic<std::uint32_t> answer_lanes_{0};
  std::atomic<bool> acknowledge_now_{false};
  std::atomic<bool> told_stale_{false};  // tell again what was told
  std::atomic<bool> ask_now_{false};
  std::atomic<bool> probed_{false};
  std::atomic<bool> unblock_{false};
};

}  // namespace headway::packets
