#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/spinlock.hpp"
#include "rails/driver.hpp"
#include "rails/landing_zones.hpp"
#include "rails/last_events.hpp"

namespace headway::rails::self {

/// Carries a process's messages to itself. The smallest driver: start here to write another.
///
/// Shape:    two queues of `slot_count`: eager packets are copied and wait to be released,
///           packets with a landing zone are remembered and copied once, straight to where they
///           belong.
/// Threads:  as the contract says; one lock guards the queues' ends and is never held while
///           bytes are copied.
/// Progress: never waits. A large payload moves in pieces of `piece_bytes`, one for each `reap`.
/// Errors:   none beyond the contract's ordinary answers.
class self_driver final : public driver {
 public:
  static constexpr std::size_t header_bytes_max = 128;
  static constexpr std::size_t eager_bytes_max = 8192;
  static constexpr std::size_t piece_bytes = 256 * 1024;
  static constexpr std::uint64_t slot_count = 64;

  explicit self_driver(peer_id me) noexcept : me_(me) {}
  ~self_driver() override { close(); }
  self_driver(const self_driver&) = delete;
  self_driver& operator=(const self_driver&) = delete;

  [[nodiscard]] limits query() const noexcept override;
  [[nodiscard]] base::result<std::vector<std::byte>> open() override;
  [[nodiscard]] base::result<> connect(peer_id peer, std::span<const std::byte> address) override;
  [[nodiscard]] post send(peer_id peer, const packet& what) noexcept override;
  [[nodiscard]] bool land(peer_id peer, landing_id id,
                          std::span<std::byte> target) noexcept override;
  void unland(landing_id id) noexcept override;
  [[nodiscard, gnu::hot]] std::size_t reap(std::span<event> out) noexcept override;
  void release(const event& received) noexcept override;
  [[nodiscard]] int descriptor() const noexcept override { return bell_; }
  [[nodiscard]] bool arm(bool sleeping) noexcept override;
  void tick(std::uint64_t now_ns) noexcept override;
  void close() noexcept override;

 private:
  using room = std::array<std::byte, header_bytes_max + eager_bytes_max>;

  void ring_if_asleep(bool asleep) noexcept;
  [[nodiscard]] post take_eager(const packet& what) noexcept;
  [[nodiscard]] post take_posted(const packet& what) noexcept;
  [[nodiscard]] std::size_t move_piece(std::span<event> out) noexcept;

  const peer_id me_;
  landing_zones zones_;
  int bell_ = -1;                  // an eventfd
  std::unique_ptr<room[]> rooms_;  // of eager packets; a page is touched when first used
  std::array<std::size_t, slot_count> room_bytes_{};
  std::array<packet, slot_count> posted_{};

  // Tickets never wrap: ticket t lives in slot t % slot_count, and only the owner of the span it is
  // in touches that slot: [taken back, given) is the driver's and the receiver's, the rest is free.
  std::atomic<std::uint64_t> unfinished_{0};  // eager not reaped and posted not done: a hint
  base::spinlock lock_;                       // guards all below
  std::uint64_t eager_sent_ = 0;              // released <= reaped <= sent <= released + slot_count
  std::uint64_t eager_reaped_ = 0;
  std::uint64_t eager_released_ = 0;
  std::uint64_t posted_sent_ = 0;  // done <= sent <= done + slot_count
  std::uint64_t posted_done_ = 0;
  bool sleeping_ = false;
  bool open_ = false;

  std::size_t moved_bytes_ = 0;  // of the oldest posted packet; `reap` alone uses it
  last_events last_;             // for `reap` after `close`
};

}  // namespace headway::rails::self
