#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "packets/credits.hpp"
#include "packets/packet_sender.hpp"
#include "progress/core/engine.hpp"
#include "rails/driver.hpp"

namespace headway::packets {

class scheduler;

/// The only rail to a peer: packets go as they are; small ones that have waited go several in one
/// rail packet, which the receiving side splits.
///
/// Shape:    such a frame holds at most `frame_bytes_max` and no more than the rail takes at once
///           without posting it; it is built on the stack.
/// Threads:  the holder of the scheduler's mask, except what is constant once the peer is known.
class single_rail final : public packet_sender {
 public:
  static constexpr std::size_t frame_bytes_max = 2048;

  single_rail(scheduler& of, rails::peer_id to, credit_account& credits,
              progress::engine& engine) noexcept
      : of_(of), to_(to), credits_(credits), engine_(engine) {}

  void open(rails::driver& via, std::size_t rail_index) noexcept;
  /// False: the peer has no rail yet, or a bundle of them.
  [[nodiscard]] bool is_open() const noexcept { return via_ != nullptr; }
  [[nodiscard]] rails::driver& driver() const noexcept { return *via_; }
  [[nodiscard]] std::size_t rail_index() const noexcept { return rail_index_; }

  enum class taken : std::uint8_t {
    whole,    ///< nothing of it is needed any more
    in_part,  ///< an event or the peer's answer ends it: it may be gone already
    not_yet,
    never,
  };
  [[nodiscard, gnu::hot]] taken transmit(send_item& item) noexcept;
  /// A packet without an item: `done` or not taken.
  [[nodiscard, gnu::hot]] bool transmit_now(std::span<std::byte> head,
                                            std::span<const std::byte> payload) noexcept;

  [[nodiscard]] bool prepare() noexcept override;
  [[nodiscard]] int idle_rail(std::uint32_t passed_over) const noexcept override {
    return passed_over == 0 ? 0 : -1;
  }
  [[nodiscard]] std::size_t describe(std::span<rail_state> states) const noexcept override;
  [[nodiscard]] limits room() const noexcept override;
  [[nodiscard]] bool send_in_parts(std::uint32_t, send_item&) noexcept override { return false; }
  [[nodiscard]] answer send(std::uint32_t on, std::span<send_item* const> chosen) noexcept override;
  void finish(bool flowing) noexcept override;
  void drop() noexcept override {}

 private:
  [[nodiscard]] answer send_one(send_item& item) noexcept;
  [[nodiscard]] answer send_together(std::span<send_item* const> chosen) noexcept;

  scheduler& of_;
  const rails::peer_id to_;
  credit_account& credits_;
  progress::engine& engine_;
  rails::driver* via_ = nullptr;
  std::size_t rail_index_ = 0;
  std::size_t frame_room_ = 0;  // of a frame; 0: the rail may post what it is given
  bool takes_ = false;          // it has taken something in this round
};

}  // namespace headway::packets
