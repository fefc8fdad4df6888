#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "packets/send_item.hpp"
#include "packets/transfer/get_choice.hpp"
#include "rails/memory.hpp"

namespace headway::packets {

class incoming_flows;
class outgoing_flows;
class peer;
class rendezvous;
class scattered_memory;

/// Exposed bytes that a peer puts a message into.
struct landing {
  /// its message comes over several rails; null: it is a `transfer`
  incoming_flows* divided = nullptr;
  /// bytes that have not landed; of a message that is sent in pieces, those that have not left
  std::uint64_t left = 0;
};

/// A large message at one of its ends. Embedded in what it belongs to.
/// Shape:    the packets that announce it, request it and, over a single rail, carry it are this
///           one item, one after the other.
/// Threads:  its owner's until it is given to `rendezvous`, and again after `ended`.
struct transfer : send_item, landing {
  /// The bytes of the message, which are only read, or the memory for them. Empty if `scattered`.
  std::span<std::byte> memory;
  /// Null: the message is one block of memory. A receive also sets `left`, to the bytes that it
  /// wants, before `fetch`.
  scattered_memory* scattered = nullptr;
  /// Called once. `well`: the transfer is complete; otherwise the peer is lost. `memory` is not
  /// used any more. From any thread; must not wait or poll. The item may be gone when it returns.
  void (*ended)(transfer& self, bool well) noexcept = nullptr;
  peer* with = nullptr;  ///< the process at its other end; set by `rendezvous`
  /// Of a receive: nothing but the thread that waits for the sender's part depends on its end, so
  /// that what tells the sender of it `can_wait` (see rails::packet).
  bool end_can_wait = false;
  /// Its memory is `lent` (see rails::packet): the owner calls `peer::reclaim` at the end.
  bool lends = false;

 private:
  friend rendezvous;
  friend incoming_flows;
  friend outgoing_flows;

  std::uint32_t number_ = 0;  // among our sends, or our landings
  std::uint32_t theirs_ = 0;  // of a receive: the sender's number
  get_choice::choice way_;    // of a receive
  bool counted_ = false;      // counted among those under way with its peer
  bool sends_ = false;        // and among those to it
  bool held_ = false;         // its thread still posts it; under the lock of its table
  rails::ticket shown_;       // of a receive: the exposure of its memory
  rails::memory* shown_by_ = nullptr;
  // Of a message that several rails carry, under the lock of `outgoing_flows`:
  bool asked_ = false;  // pieces of it were requested
  bool over_ = false;   // no more will be requested
  bool well_ = false;   // all of it arrived
  std::uint32_t pieces_out_ = 0;
};

/// How the sender announces a large message in its rts. Plain data.
struct announced {
  std::uint32_t number = 0;   ///< the sender's own
  std::uint32_t beside = 0;   ///< other large messages under way between the two at that moment
  std::uint64_t address = 0;  ///< of the message in the sender's memory; 0: it is scattered
};

/// Memory that a process has exposed for a large message of another, before it was announced. Plain
/// data, sent to that process in a packet.
struct preposted {
  std::uint32_t number = 0;  ///< its own; 0: none
  std::uint32_t zero = 0;
  rails::ticket target = {};

  [[nodiscard]] std::uint64_t bytes() const noexcept { return target.bytes; }
};

}  // namespace headway::packets
