#pragma once

#include <cstdint>

#include "base/waiting_report.hpp"
#include "packets/bundle/bundle_host.hpp"

namespace headway::packets {

class frame_sender;
class incoming_flows;
class outgoing_flows;
struct lane;

/// Watches the rails of a bundle: which of them are proved, silent or lost, when a lost one is
/// connected again, and when a peer without any rail counts as failed.
/// Threads:  R, the section of the bundle set.
class lane_monitor {
 public:
  lane_monitor(const bundle_context& of, frame_sender& sender, incoming_flows& incoming,
               outgoing_flows& outgoing) noexcept
      : of_(of), sender_(sender), incoming_(incoming), outgoing_(outgoing) {}

  /// Every few milliseconds while the bundle is active, else rarely.
  void look(std::uint64_t now_ns) noexcept;
  /// After `look`: ends a peer that has been without a rail for too long.
  void give_up_if_cut_off(std::uint64_t now_ns) noexcept;

  /// Bytes have come through in both directions.
  void prove(lane& l, std::uint64_t now_ns) noexcept;
  /// Neither sends over the rail nor accepts anything from it until it is back; `tell`: the
  /// peer is asked to do the same.
  void kill(lane& l, bool tell, const char* why, std::uint64_t now_ns) noexcept;
  void lost(lane& l, bool process_gone, std::uint64_t now_ns) noexcept;
  void restored(lane& l, std::uint64_t now_ns) noexcept;

  /// No rail is up.
  [[nodiscard]] bool cut_off() const noexcept { return cut_off_ns_ != 0; }
  /// The peer is lost.
  void end() noexcept;

 private:
  void tell_peer(std::uint32_t number, bool give_up) noexcept;
  void revive_closed(std::uint64_t now_ns) noexcept;
  void leave_out_unproved(std::uint64_t now_ns) noexcept;
  void look_at_silent(std::uint64_t now_ns) noexcept;
  [[nodiscard]] std::uint64_t last_activity_ns(lane& l) const noexcept;
  [[nodiscard]] std::uint64_t answered_elsewhere_ns(const lane& l) const noexcept;
  [[nodiscard]] std::uint32_t owing_lanes() noexcept;
  [[nodiscard]] bool left_by_peer() const noexcept;

  const bundle_context& of_;
  frame_sender& sender_;
  incoming_flows& incoming_;
  outgoing_flows& outgoing_;
  std::uint32_t owing_frames_ = 0;    // bits of lanes with unacknowledged frames, at the last look
  std::uint64_t cut_off_ns_ = 0;      // since when no rail is up; 0: one is
  std::uint64_t asked_again_ns_ = 0;  // when unproved rails were last sent a question
  base::waiting_report cut_off_said_;
};

}  // namespace headway::packets
