#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "packets/bundle/bundle_host.hpp"
#include "packets/bundle/frame_receiver.hpp"
#include "packets/bundle/frame_sender.hpp"
#include "packets/bundle/lane.hpp"
#include "packets/bundle/lane_monitor.hpp"
#include "packets/transfer/incoming_flows.hpp"
#include "packets/transfer/outgoing_flows.hpp"

namespace headway::packets {

class bundle_set;
class credit_account;
class scheduler;

/// What a bundle needs of its peer.
class bundle_owner {
 public:
  /// [R] A packet for the modules above, in order.
  virtual void deliver(std::span<const std::byte> packet) noexcept = 0;
  /// [R] The bundle has failed: calls `bundle::fail_all`.
  virtual void lose() noexcept = 0;

 protected:
  ~bundle_owner() = default;
};

/// Joins several rails to one peer into one stream: every packet arrives exactly once and in order,
/// and every large message whole, as long as one rail is left or comes back in time. A peer with a
/// single rail has no bundle: its driver does the same (rails::health::resume_if_cut).
///
/// Parts:    `frame_sender` numbers, keeps and resends, `frame_receiver` restores the order,
///           `incoming_flows` and `outgoing_flows` carry large messages, `lane_monitor` watches the
///           rails. This class joins them and decides whether the bundle is active.
/// Threads:  two sections and two locks. S, the holder of the scheduler's mask: what is sent. R,
///           the section of the bundle set: what arrives, and the rails' health. Each of the two
///           flow classes has a lock. A thread in R may try to enter S and may take the locks; one
///           in S may take the locks; no function of another module is called under them.
/// Progress: never waits. What cannot leave now leaves after the rail has been reaped again.
/// Source:   multirail08.
class bundle final : private bundle_host {
 public:
  bundle(bundle_owner& owner, rails::peer_id to, bundle_set& set, scheduler& queue,
         credit_account& credits, progress::engine& engine, std::size_t ring_bytes);
  bundle(const bundle&) = delete;
  bundle& operator=(const bundle&) = delete;

  // Before other threads can find the peer. Lanes in the same order at both ends.
  void add_lane(rails::driver& via, std::size_t rail_index, const lane::shared& rails_own);
  /// Sets the profile that earlier jobs measured for that rail.
  void know(std::size_t rail_index, const sampling::profile& known) noexcept;
  [[nodiscard]] const lane_set& lanes() const noexcept { return lanes_; }
  [[nodiscard]] std::size_t eager_bytes_max() const noexcept { return eager_bytes_max_; }
  [[nodiscard]] packet_sender& sender() noexcept { return sender_; }

  [[nodiscard]] incoming_flows& incoming() noexcept { return incoming_; }
  [[nodiscard]] outgoing_flows& outgoing() noexcept { return outgoing_; }
  /// The profile that this job's transfers over that rail have shown; nothing: there were too few.
  /// After the last transfer.
  [[nodiscard]] std::optional<sampling::profile> learnt(std::size_t rail_index) const noexcept;

  // In R:
  void arrived(lane& on, std::span<const std::byte> bytes, std::uint64_t now_ns) noexcept;
  /// The peer no longer uses this rail.
  void lane_down(std::uint8_t number) noexcept;
  /// Parts that the peer sent over a rail may be lost: they are requested again.
  void ask_again(std::uint8_t number) noexcept;
  void lane_lost(lane& which, bool process_gone, std::uint64_t now_ns) noexcept {
    monitor_.lost(which, process_gone, now_ns);
  }
  void lane_restored(lane& which, std::uint64_t now_ns) noexcept {
    monitor_.restored(which, now_ns);
  }
  /// A driver that the bundle waits for has been reaped.
  void reaped(std::size_t rail_index) noexcept;
  [[nodiscard]] bool waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool active() const noexcept { return active_.load(std::memory_order_relaxed); }
  /// Acknowledgements and health. Called every few milliseconds while the bundle is active, else
  /// rarely.
  void look(std::uint64_t now_ns) noexcept;
  /// Ends everything that waits, because the peer is lost. Not in S.
  void fail_all() noexcept;

  /// Before the rails close: afterwards no helper is inside one of them.
  void end_help() noexcept;
  /// Nothing is under way in either direction, or the peer is lost.
  [[nodiscard]] bool at_rest() const noexcept;

  bundle* older_in_set = nullptr;  ///< used by bundle_set

 private:
  // bundle_host
  void deliver(std::span<const std::byte> packet) noexcept override { owner_.deliver(packet); }
  void broken(const char* what) noexcept override;
  void lose() noexcept override { owner_.lose(); }
  void send_control(const control& c) noexcept override;
  void pump() noexcept override;
  void mark_active() noexcept override;
  void mark_waiting(bool is) noexcept override;
  [[nodiscard]] bool send_pieces() noexcept override { return outgoing_.send_pieces(); }
  void drop_pieces() noexcept override { outgoing_.drop_pieces(); }

  static void control_sent(send_item& item, bool well) noexcept;
  void rest_if_done() noexcept;

  bundle_owner& owner_;
  progress::engine& engine_;
  lane_set lanes_;
  std::size_t eager_bytes_max_ = 0;
  const bundle_context context_;
  frame_sender sender_;
  incoming_flows incoming_;
  outgoing_flows outgoing_;
  lane_monitor monitor_;
  frame_receiver receiver_;
  std::atomic<bool> waiting_{false};  // something waits for a driver to be reaped; a hint
  std::atomic<bool> active_{false};   // counted by the engine as pending; see rest_if_done
  bool failed_ = false;               // R
};

}  // namespace headway::packets
