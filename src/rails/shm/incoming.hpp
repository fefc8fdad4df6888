#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "processes/table.hpp"
#include "rails/exposures.hpp"
#include "rails/shm/peer_links.hpp"
#include "rails/shm/receive_channel.hpp"
#include "rails/shm/segment.hpp"

namespace headway::rails::shm {

/// The channels in which peers write to this process, in the order of their first message.
/// Shape:    two pointers and a number for each slot of the segment; a channel is allocated when
///           its peer has sent something and is connected.
/// Threads:  `take`, `release`, `admit_senders`, `waits_from` by the reaper; the rest any thread.
class incoming {
 public:
  struct context {
    segment& mine;
    processes::table& known;  ///< processes that send before they are known are added
    processes::process_id self;
    const peer_links& links;
    exposures& exposed;
    std::size_t record_bytes_max;
    base::clock clock;
  };
  explicit incoming(const context& given);

  /// Whether `admit_senders` has something to do.
  [[nodiscard, gnu::hot]] bool new_senders() const noexcept;
  /// Opens channels for connected peers that have begun to send, and reports each peer that is not
  /// connected yet: `called`, once. Returns the number of these events.
  [[nodiscard]] std::size_t admit_senders(std::span<event> out) noexcept;
  /// The slot of a peer that has begun to send; null: it has not. Any thread.
  [[nodiscard]] const slot_control* slot_of(peer_id peer) const noexcept;
  /// Takes from the channels in turn; each call begins at another one.
  [[nodiscard, gnu::hot]] std::size_t take(std::span<event> out) noexcept;
  [[gnu::hot]] void release(const event& received) noexcept {
    channels_[received.driver_word >> 32]->release(received.driver_word & 0xffff'ffff);
  }
  /// Whether something of this peer is still to be taken.
  [[nodiscard]] bool waits_from(const send_channel& peer) const noexcept;
  /// Whether `take` would find something of this kind.
  [[nodiscard]] bool waiting(arrivals which) const noexcept;
  /// After return, the peers behind these bits of `exposures::remove` no longer write directly into
  /// this process.
  void take_back_targets(std::uint64_t holders) noexcept;

 private:
  using slot_bits = std::array<std::atomic<std::uint64_t>, slots_max / 64>;

  /// Calls `visit(slot, process)` for each active slot that is not admitted, until it returns true.
  template <class Visit>
  bool any_fresh(Visit&& visit) const noexcept;
  /// The process that uses the slot, if it was reported.
  [[nodiscard]] std::optional<peer_id> called_from(std::uint32_t slot) const noexcept {
    const auto number = called_[slot].load(std::memory_order_relaxed);
    return number == 0 ? std::nullopt : std::optional(peer_id{number - 1});
  }
  void admit(std::uint32_t slot, send_channel& back) noexcept;
  [[nodiscard]] std::span<receive_channel* const> admitted() const noexcept {
    return {takers_.get(), taken_.load(std::memory_order_acquire)};  // (S)
  }

  // Edge (S): the reaper fills in a channel, then publishes it by `taken_` and `seen_`; a thread
  // that reads one of these with acquire sees the channel.
  std::uint32_t taker_count_ = 0;  // written by the reaper, published by taken_
  std::uint32_t next_taker_ = 0;   // where the next round begins
  std::unique_ptr<receive_channel*[]> takers_;
  std::atomic<std::uint32_t> taken_{0};
  std::unique_ptr<std::unique_ptr<receive_channel>[]> channels_;  // by slot
  const context c_;
  const std::uint32_t word_count_;  // of the `active` bits
  slot_bits seen_{};                // active bits that are admitted
  // By slot: 1 + the number of a peer that was reported as `called`. Relaxed: written by the
  // reaper, a hint elsewhere.
  std::unique_ptr<std::atomic<std::uint32_t>[]> called_;
};

}  // namespace headway::rails::shm
