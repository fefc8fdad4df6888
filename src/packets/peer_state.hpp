#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "packets/bundle/bundle.hpp"
#include "packets/peer.hpp"
#include "packets/settings.hpp"

namespace headway::packets {

/// A peer as this module sees it: what its rails bring, and its end.
/// Threads:  `reached_*`, `open_bundle`, `know` and `refuse` before others know it; the rest
///           [reaper], or alone at the end.
class peer_state final : public peer, private bundle_owner {
 public:
  using services = peer::services;

  peer_state(const services& shared, rails::peer_id id, const settings& chosen) noexcept
      : peer(shared, id, *chosen.how) {}

  void reached_over(rails::driver& via, std::size_t rail_index, const settings& chosen) noexcept;
  /// The lanes are added to what this returns, then `open_bundle`.
  [[nodiscard]] packets::bundle& reached_over_several(bundle_set& set, const settings& chosen);
  void open_bundle() noexcept;
  [[nodiscard]] bool reached() const noexcept { return scheduler_.direct().is_open() || own_; }
  /// No rail reaches it: it is lost, and nothing of it was told.
  void refuse() noexcept;
  /// What earlier jobs measured of a rail to it.
  void know(std::size_t rail_index, const sampling::profile& known) noexcept;

  /// Null: one rail reaches it, or none.
  [[nodiscard]] packets::bundle* bundle() noexcept { return own_.get(); }
  [[nodiscard]] const packets::bundle* bundle() const noexcept { return own_.get(); }
  /// That of its only rail.
  [[nodiscard]] rails::memory& memory() const noexcept {
    return *scheduler_.direct().driver().memory();
  }
  /// Large messages to it and from it. For advice: relaxed, it carries no data.
  std::atomic<std::uint32_t> transfers_under_way{0};
  [[nodiscard]] rendezvous& large() const noexcept { return services_.large; }

  /// A packet from its only rail.
  [[gnu::hot]] void arrived(std::span<const std::byte> bytes) noexcept;
  /// It is lost: what was posted ends, then the modules above are told. Once.
  void lose() noexcept override;
  /// The rails are closed, and no other thread is here any more: what was posted ends.
  void end() noexcept;

 private:
  [[gnu::hot]] void deliver(std::span<const std::byte> packet) noexcept override;
  void arrived_own(std::span<const std::byte> packet) noexcept;
  void bound_eager(std::size_t bytes) noexcept;
  void arrived_together(std::span<const std::byte> bytes) noexcept;
  void broken(const char* what) noexcept;

  std::unique_ptr<packets::bundle> own_;
  bool loss_told_ = false;
};

}  // namespace headway::packets
