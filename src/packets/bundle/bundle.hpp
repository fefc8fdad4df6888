#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/combining_mask.hpp"
#include "base/spinlock.hpp"
#include "packets/bundle/flows.hpp"
#include "packets/bundle/lane.hpp"
#include "packets/bundle/reorder_window.hpp"
#include "packets/bundle/replay_ring.hpp"
#include "packets/outgoing.hpp"
#include "packets/strategy.hpp"

namespace headway::packets {

class bundle_keeper;
class peer;
class peers;
enum class posted : std::uint8_t;

/// Several rails to one peer, as one stream: every packet arrives exactly once and in order, and
/// every large message whole, as long as one rail is left or comes back in time.
///
/// Packets leave in numbered frames, which are kept until the peer has acknowledged them and sent
/// again over other rails when theirs is lost; the receiver puts frames into their order and drops
/// what comes twice. Large messages need no numbers: the receiver asks for pieces, into zones that
/// belong to one rail each, closes a lost rail's zones before it asks again, and so counts each
/// byte once. A peer with a single rail does without all this: nothing is left to send again over.
///
/// Shape:    frames and bytes kept are bounded by the ring, and so is what waits for its turn at
///           the other end; small messages are bounded by the credits besides.
/// Threads:  three sections. S, who holds `mask_`: what is sent. R, who is in the keeper's section:
///           what arrives, and the rails' health. F, under `flows_lock_`: large messages under way.
///           R may enter S (by trying) and F; S may enter F; no upcall is made under F.
/// Progress: never waits. What cannot leave now leaves when a rail has been reaped again.
/// Source:   multirail08; the acknowledgements after TCP (RFC 9293), the pulled pieces after
///           self-scheduling loops (Polychronopoulos and Kuck, IEEE ToC 1987).
class bundle {
 public:
  bundle(peers& all, peer& to, bundle_keeper& keeper, std::size_t ring_bytes);
  ~bundle();
  bundle(const bundle&) = delete;
  bundle& operator=(const bundle&) = delete;

  /// Control plane. The same order at both ends.
  void add_lane(rails::driver& via, std::size_t rail_index);
  [[nodiscard]] std::size_t lane_count() const noexcept { return lanes_.size(); }
  [[nodiscard]] lane* lane_on(std::size_t rail_index) noexcept;
  [[nodiscard]] std::size_t eager_bytes_max() const noexcept { return eager_bytes_max_; }

  [[nodiscard]] posted post(outgoing& item) noexcept;
  void pull(const pull_order& order) noexcept;

  // In R:
  void arrived(lane& on, std::span<const std::byte> bytes, std::uint64_t now_ns) noexcept;
  void landed(inflow::asked& piece, std::uint32_t zone, std::uint64_t bytes,
              std::uint64_t now_ns) noexcept;
  void lane_lost(lane& which, bool process_gone, std::uint64_t now_ns) noexcept;
  void lane_restored(lane& which, std::uint64_t now_ns) noexcept;
  /// A driver on which something waits has been reaped.
  void reaped(std::size_t rail_index) noexcept;
  [[nodiscard]] bool waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool active() const noexcept { return active_.load(std::memory_order_relaxed); }
  /// Every few milliseconds while it is active, else now and then: acknowledgements and health.
  void look(std::uint64_t now_ns) noexcept;
  /// The peer is lost: ends everything. Not in S.
  void fail_all() noexcept;

  /// Before the rails close: nobody is inside one of them on our behalf after this.
  void end_help() noexcept;

  // From the drivers' events, any thread:
  static void piece_sent(outgoing& item, bool well) noexcept;
  static void control_sent(outgoing& item, bool well) noexcept;

  /// Nothing is under way in either direction.
  [[nodiscard]] bool at_rest() const noexcept { return !active(); }

 private:
  static constexpr std::uint8_t no_lane = 0xff;
  static constexpr std::size_t packets_per_frame_max = 256;
  using controls = std::vector<control>;

  // S (bundle_sending.cpp, bundle_frames.cpp):
  void adopt_submitted() noexcept;
  void append(outgoing& item) noexcept;
  void pump() noexcept;
  void flush() noexcept;
  void try_pump() noexcept;
  [[nodiscard]] bool pump_packets() noexcept;
  [[nodiscard]] bool resend() noexcept;
  void send_pieces(lane& l) noexcept;
  [[nodiscard]] std::size_t choose(std::uint32_t on, std::span<const outgoing*> chosen) noexcept;
  enum class sending : std::uint8_t { taken, retry, down, full };
  [[nodiscard]] sending send_packets(std::uint32_t on,
                                     std::span<const outgoing* const> wanted) noexcept;
  [[nodiscard]] std::size_t write_frame(std::span<outgoing* const> chosen,
                                        std::byte* memory) noexcept;
  void unlink(std::span<outgoing* const> chosen) noexcept;
  void put_back(std::span<outgoing* const> chosen) noexcept;
  [[nodiscard]] sending send_frame(std::uint32_t number, std::uint32_t on) noexcept;
  void describe_lanes(std::span<rail_state> states) const noexcept;
  bool send_word(lane& l, frame_kind kind) noexcept;
  void send_words() noexcept;
  void acknowledge() noexcept;
  [[nodiscard]] static bool takes_now(const lane& l) noexcept;
  [[nodiscard]] int idle_lane(std::uint32_t passed_over) const noexcept;
  void drop_waiting() noexcept;

  // S (bundle_parts.cpp), the last one R:
  [[nodiscard]] bool send_in_parts(std::uint32_t on) noexcept;
  [[nodiscard]] bool sound_cut(std::span<const piece> parts, std::uint64_t bytes,
                               std::uint32_t on) const noexcept;
  [[nodiscard]] bool send_parts(outgoing& item, std::span<const piece> parts) noexcept;
  void lend(std::uint32_t number) noexcept;
  static progress::ltask_result help(progress::ltask& self) noexcept;
  void take_back_lent() noexcept;
  void send_again(std::uint32_t number) noexcept;
  void take_part(std::span<const std::byte> contents, std::size_t packets,
                 std::uint64_t now_ns) noexcept;

  // R (bundle_arriving.cpp):
  void take_data(const frame_head& head, std::span<const std::byte> contents,
                 std::uint64_t now_ns) noexcept;
  [[nodiscard]] std::uint32_t lanes_that_owe() noexcept;
  void take_frame(std::span<const std::byte> contents, std::size_t packets,
                  std::uint64_t now_ns) noexcept;
  void take_packets(std::span<const std::byte> contents, std::size_t packets,
                    std::uint64_t now_ns) noexcept;
  void take_control(std::span<const std::byte> packet, std::uint64_t now_ns) noexcept;
  void kill(lane& l, bool tell, const char* why, std::uint64_t now_ns) noexcept;
  void look_at_lanes(std::uint64_t now_ns) noexcept;
  void probe() noexcept;
  void prove(lane& l, std::uint64_t now_ns) noexcept;
  void leave_out_unproved(std::uint64_t now_ns) noexcept;
  void give_up_if_cut_off(std::uint64_t now_ns) noexcept;
  [[nodiscard]] bool left_by_peer() const noexcept;
  void rest_if_done() noexcept;
  void broken(const char* what) noexcept;

  // F (bundle_flows.cpp):
  void feed(inflow& in, std::uint64_t now_ns, controls& orders) noexcept;
  [[nodiscard]] bool grant(inflow& in, std::uint32_t on, std::uint64_t bytes, std::uint64_t now_ns,
                           controls& orders) noexcept;
  [[nodiscard]] bool open_zone(inflow::asked& piece, std::span<std::byte> target) noexcept;
  void close_zone(inflow::asked& piece) noexcept;
  void reopen(inflow::asked& piece, std::uint64_t now_ns) noexcept;
  void close_inflow(inflow& in) noexcept;
  [[nodiscard]] std::uint64_t chunk_bytes(const lane& l, std::uint64_t share) const noexcept;
  void piece_in(inflow::asked& piece, std::uint64_t now_ns) noexcept;
  void feed_starving(std::uint64_t now_ns) noexcept;
  void retake(lane& l, std::uint64_t now_ns) noexcept;
  void pulled_by_peer(const control& c) noexcept;
  void pull_over(const control& c) noexcept;
  void refused(const control& c, std::uint64_t now_ns) noexcept;
  void piece_over(flow_piece& piece, bool well) noexcept;
  void fail_flows() noexcept;
  void send_controls(const controls& all) noexcept;
  void send_control(const control& c) noexcept;

  void mark_active() noexcept;
  [[nodiscard]] std::uint64_t heard_ns(lane& l) noexcept;
  [[nodiscard]] std::uint32_t lane_number(const lane& l) const noexcept;

  peers& all_;
  peer& to_;
  bundle_keeper& keeper_;
  std::vector<std::unique_ptr<lane>> lanes_;
  std::size_t eager_bytes_max_ = SIZE_MAX;
  std::size_t frame_bytes_max_ = SIZE_MAX;

  base::combining_mask<outgoing, std::atomic, &outgoing::next> mask_;
  // S:
  replay_ring ring_;
  outgoing* first_ = nullptr;
  outgoing* last_ = nullptr;
  std::size_t count_ = 0;        // of those
  outgoing* posting_ = nullptr;  // the caller of `post` waits for the answer of this one
  bool posting_done_ = false;
  bool resending_ = false;       // some frames' rail is lost, or did not take them
  std::uint32_t lent_ = 0;       // bits of lanes whose helper has something
  std::uint32_t asking_ = 0;     // bits of lanes still to be asked …
  std::uint32_t answering_ = 0;  // … and answered
  std::uint32_t told_ = 0;       // what the peer was told to have been received

  // From one section to another; where a value carries nothing, it is a hint that is looked at
  // again at the next reaping at the latest, because `waiting_` or `active_` is set with it.
  std::atomic<std::uint32_t> due_{0};           // R -> S: what is to be acknowledged
  std::atomic<std::uint32_t> told_seen_{0};     // S -> R: `told_`
  std::atomic<std::uint32_t> dead_lanes_{0};    // R -> S: bits of lanes whose frames must go again
  std::atomic<bool> acknowledge_now_{false};    // R -> S
  std::atomic<bool> ask_now_{false};            // R -> S
  std::atomic<bool> probed_{false};             // every lane is or was asked; whoever is first
  std::atomic<std::uint32_t> answer_lanes_{0};  // R -> S: bits of lanes that were asked
  std::atomic<bool> waiting_{false};            // something waits for a driver to be reaped
  std::atomic<bool> active_{false};             // counted by the engine as pending; see mark_active
  std::atomic<bool> told_stale_{false};         // R -> S: tell again what was told
  std::atomic<bool> unblock_{false};            // R -> S: a rail is new

  // R:
  reorder_window window_;
  std::vector<std::byte> parts_;  // of a frame that goes on in the next one
  const std::size_t ring_bytes_;
  std::uint32_t owing_frames_ = 0;  // bits of lanes with unacknowledged frames, at the last look
  std::size_t owed_bytes_ = 0;      // received since the last acknowledgement
  std::uint64_t cut_off_ns_ = 0;
  std::uint64_t asked_again_ns_ = 0;  // rails that have never answered
  bool failed_ = false;

  base::spinlock flows_lock_;
  // F:
  std::vector<std::unique_ptr<inflow>> inflows_;
  std::vector<std::unique_ptr<outflow>> outflows_;
  std::vector<std::unique_ptr<inflow>> spare_inflows_;
  bool starving_ = false;  // some inflow has no piece under way
};

}  // namespace headway::packets
