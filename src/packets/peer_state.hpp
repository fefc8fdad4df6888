#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "packets/bundle/bundle.hpp"
#include "packets/left_announcements.hpp"
#include "packets/peer.hpp"
#include "packets/settings.hpp"

namespace headway::packets {

/// A peer as this module sees it: its rails, what arrives from them, and its end.
/// Threads:  `reached_*`, `open_bundle`, `know` and `refuse` before other threads can find it; the
///           rest [reaper], or with no other thread at the end.
class peer_state final : public peer, public left_announcements::hook, private bundle_owner {
 public:
  using services = peer::services;

  peer_state(const services& shared, rails::peer_id id, const settings& chosen) noexcept
      : peer(shared, id, *chosen.how) {}

  void reached_over(const single_rail::way& over, const settings& chosen) noexcept;
  /// Add the lanes to the result, then call `open_bundle`.
  [[nodiscard]] packets::bundle& reached_over_several(bundle_set& set, const settings& chosen);
  void open_bundle() noexcept;
  [[nodiscard]] bool reached() const noexcept { return scheduler_.direct().is_open() || own_; }
  /// No rail reaches it: it is lost. Call `lose` afterwards.
  void refuse() noexcept;
  /// Sets the profile that earlier jobs measured for a rail to it.
  void know(std::size_t rail_index, const sampling::profile& known) noexcept;

  /// Null: one rail reaches it, or none.
  [[nodiscard]] packets::bundle* bundle() noexcept { return own_.get(); }
  [[nodiscard]] const packets::bundle* bundle() const noexcept { return own_.get(); }
  /// It is sent to over a single rail, another one than that of this index.
  [[nodiscard]] bool sent_over_another(std::size_t rail_index) const noexcept;
  /// [reaper] The peer sends over this rail, not over the one that is used to send to it, because
  /// it is refused that one. If the two are to agree on a rail for large messages it is this one:
  /// both can send over it.
  void carry_large_over(const single_rail::way& over) noexcept {
    scheduler_.carry_large_over(over);
  }
  /// The memory operations of the rail for its large messages. There is no bundle.
  [[nodiscard]] rails::memory& memory() const noexcept { return scheduler_.direct().memory(); }
  /// Large messages under way in both directions. A hint: relaxed, it carries no data.
  std::atomic<std::uint32_t> transfers_under_way{0};
  /// Of these, those to the peer. A hint as well.
  std::atomic<std::uint32_t> sends_under_way{0};
  [[nodiscard]] rendezvous& large() const noexcept { return services_.large; }
  /// Its only rail wakes no thread there for packets that `can_wait`.
  [[nodiscard]] bool lets_wait() const noexcept { return scheduler_.direct().lets_wait(); }

  /// A packet from its only rail.
  [[gnu::hot]] void arrived(std::span<const std::byte> bytes) noexcept;
  /// The first part of a packet from its only rail, and the next ones: so many bytes follow.
  void begun(std::span<const std::byte> bytes, std::size_t following) noexcept;
  void continued(std::span<const std::byte> bytes, std::size_t following) noexcept;
  /// The peer is lost: ends everything posted, then calls `lost` of the modules above. Once.
  void lose() noexcept override;
  /// The rails are closed and no other thread uses the peer: ends everything posted.
  void end() noexcept;
  /// As in `scheduler`.
  [[nodiscard]] bool send_collected() noexcept { return scheduler_.send_collected(); }
  void stop() noexcept { scheduler_.stop(); }

 private:
  [[gnu::hot]] void deliver(std::span<const std::byte> packet) noexcept override;
  void deliver_now(std::span<const std::byte> packet) noexcept;
  void arrived_own(std::span<const std::byte> packet) noexcept;
  void bound_eager(std::size_t bytes) noexcept;
  void arrived_together(std::span<const std::byte> bytes) noexcept;
  void broken(const char* what) noexcept;
  void break_off_parts() noexcept;

  std::optional<packet_in_parts> in_parts_;  // not whole yet
  std::unique_ptr<packets::bundle> own_;
  bool loss_told_ = false;
};

}  // namespace headway::packets
