#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/clock.hpp"
#include "base/id_table.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "packets/control.hpp"
#include "packets/left_announcements.hpp"
#include "packets/transfer/cheaper_way.hpp"
#include "packets/transfer/transfer.hpp"
#include "progress/core/engine.hpp"

namespace headway::packets {

class peer_state;

/// Moves large messages. The module above announces one in a packet of its own, the rts, which
/// contains the sender's number for it. The peer's module above matches it and calls `fetch`: the
/// receiver exposes memory and replies with its ticket (the cts), and the sender puts the bytes
/// there. Where `memory_limits::large` allows it, the receiver may instead get them from the
/// address in the rts, and then sends `received`.
///
/// A single rail carries a message as a whole. Several rails carry it in pieces, which the receiver
/// requests (incoming_flows) and the sender gives to their rails (outgoing_flows), until the
/// receiver has all and says so.
///
/// A message that is not one block of memory at either end is not put: the receiver sends `pieces`
/// instead of a cts, and the sender sends the bytes in packets, one after the other (pieces.cpp).
/// Each end packs a piece, or unpacks it, when it leaves or arrives.
///
/// Threads:  any; those marked [reaper] by the thread that reaps the peer's rail.
/// Progress: never waits. Without memory to expose more it tries again in each polling round.
/// Errors:   a transfer whose peer is lost ends, not `well`. A request for a message that was
///           not announced to that peer is ignored, and so is what answers a packet of ours that
///           has not left.
/// Source:   the rendezvous of multirail08; a cts that bears a key is what networks with remote
///           memory operations need (fi_rma(3)).
class rendezvous {
 public:
  explicit rendezvous(progress::engine& engine) noexcept
      : engine_(engine), clock_(engine.clock()), retry_(*this), left_(engine) {}
  rendezvous(const rendezvous&) = delete;
  rendezvous& operator=(const rendezvous&) = delete;

  /// Gives a message a number under which `to` can fetch it, once. `announce(announced)` writes the
  /// rts into `message`. `post_rts` also posts it; after `enter_rts`, which is for
  /// `fall_back_to_rts`, it leaves instead of what was posted.
  template <class Announce>
  void enter_rts(peer& to, transfer& message, Announce announce) {
    enter_send(to, message, announce, false);
  }
  template <class Announce>
  void post_rts(peer& to, transfer& message, Announce announce) {
    message.fall_back_to_rts = nullptr;
    enter_send(to, message, announce, true);
    post_announced(to, message);
  }
  /// Receives as much of a message that `from` has announced as `into` has memory for.
  void fetch(peer& from, const announced& what, transfer& into) noexcept;

  /// Whether memory can be preposted for this peer.
  [[nodiscard]] static bool preposts_for(const peer& from) noexcept;
  /// Exposes memory for a message that `from` has not announced yet. Number 0: not now, or not for
  /// this peer. The peer may write into the memory until the end.
  [[nodiscard]] preposted prepost(peer& from, transfer& into) noexcept;
  /// The message, which may have arrived already, has so many bytes, 1 to those of the memory.
  /// Once, inside a call of `receiver` for a packet from that peer.
  void expect(transfer& into, std::uint64_t bytes) noexcept;
  /// Returns the transfer to its owner; a polling round may still be reading it. Null: it has
  /// ended, or will soon.
  [[nodiscard]] transfer* withdraw(std::uint32_t preposted_number) noexcept;
  /// Sends a message into memory that `to` has preposted for it.
  void put(peer& to, transfer& message, const preposted& into) noexcept;

  /// Peers that sleep learn of what was announced to them so far.
  void hurry() noexcept { left_.hurry(); }

  // Of this module:
  /// [reaper] A packet of the peer's about a transfer.
  void arrived(peer_state& from, const control& c) noexcept;
  /// [reaper] A part of a message that this process wants in pieces. False: the peer violates the
  /// format.
  [[nodiscard]] bool arrived_piece(peer_state& from, std::span<const std::byte> packet) noexcept;
  /// [reaper] So many bytes have been put into a landing.
  void landed(std::uint64_t token, std::uint64_t bytes) noexcept;
  /// [reaper] The peer is lost: ends all transfers with it.
  void lost(peer_state& whom) noexcept;
  /// The rails are closed: ends what several rails carry.
  void end_divided(peer_state& whom) noexcept;
  void stop() noexcept { static_cast<void>(engine_.cancel(retry_)); }

  /// The token of an exposure. `turn`: how often the landing was exposed before.
  [[nodiscard]] static constexpr std::uint64_t token_of(std::uint32_t number,
                                                        std::uint32_t turn) noexcept {
    return std::uint64_t{turn} << 32 | number;
  }
  [[nodiscard]] std::uint32_t enter(landing& divided) { return landings_.insert(divided); }
  static void end(transfer& t, bool well) noexcept;

 private:
  struct expose_again : progress::ltask {
    explicit expose_again(rendezvous& all) noexcept
        : ltask("expose again", &rendezvous::run_again), of(all) {}
    rendezvous& of;
  };

  template <class Announce>
  void enter_send(peer& to, transfer& message, Announce announce, bool held) {
    message.with = &to;
    message.held_ = held;
    message.asked_ = message.over_ = message.well_ = false;
    message.pieces_out_ = 0;
    message.head_bytes = 0;
    message.answered = true;
    message.charge = 0;
    message.payload = {};
    message.sent = &rendezvous::rts_sent;
    const auto beside = begin(message, true);
    sends_.insert(message, [&](std::uint32_t given) {
      message.number_ = given;
      announce(announced{.number = given,
                         .beside = beside,
                         .address = reinterpret_cast<std::uintptr_t>(message.memory.data())});
    });
  }
  /// Counts it as under way until `end`. Returns how many others are, to or from its peer.
  static std::uint32_t begin(transfer& t, bool sends) noexcept;
  [[nodiscard]] get_choice::choice choose_way(const transfer& into, bool beside) noexcept;
  [[nodiscard]] bool get(transfer& into, std::uint64_t address, bool beside) noexcept;
  void post_announced(peer& to, transfer& message) noexcept;
  [[nodiscard]] std::uint32_t expose(transfer& into, std::uint64_t left) noexcept;
  [[nodiscard]] transfer* let_go(std::uint32_t landing_number, const peer& from,
                                 bool down) noexcept;
  void send_cts(transfer& into) noexcept;
  void ask_for_pieces(transfer& into) noexcept;
  void send_answer(transfer& into, std::uint32_t landing_number, const control& c) noexcept;
  static void withdraw_shown(transfer& t) noexcept;
  void asked_for_pieces(peer_state& from, const control& c) noexcept;
  static void send_pieces(transfer& message) noexcept;
  static void piece_sent(send_item& item, bool well) noexcept;
  void expose_later(transfer& into) noexcept;
  void tell_received(transfer& whole) noexcept;
  void put(transfer& message, const rails::ticket& target, std::uint64_t bytes) noexcept;
  void asked(peer_state& from, const control& c) noexcept;
  void received(peer_state& from, const control& c) noexcept;
  static void give_up(transfer& announced, bool well) noexcept;
  void finish(landing& whole) noexcept;
  [[nodiscard]] static bool knows_of(const peer_state& whom, const transfer& t) noexcept;
  [[nodiscard]] transfer* find_send(std::uint32_t number, const peer_state& to) noexcept;
  [[nodiscard]] transfer* take_send(std::uint32_t number, const peer_state& to) noexcept;

  static progress::ltask_result run_again(progress::ltask& self) noexcept;
  [[nodiscard]] static rendezvous& of(const transfer& t) noexcept;
  static void rts_sent(send_item& item, bool well) noexcept;
  static void cts_sent(send_item& item, bool well) noexcept;
  static void sent_whole(send_item& item, bool well) noexcept;

  progress::engine& engine_;
  const base::clock clock_;
  get_choice ways_;
  cheaper_way crossing_;  // of messages that meet others on their way
  base::id_table<transfer> sends_;
  base::id_table<landing> landings_;
  expose_again retry_;
  left_announcements left_;
  base::spinlock waiting_lock_;
  send_item* waiting_ HEADWAY_GUARDED_BY(waiting_lock_) = nullptr;  // for lack of memory to expose
  bool retrying_ HEADWAY_GUARDED_BY(waiting_lock_) = false;
};

}  // namespace headway::packets
