#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "processes/process.hpp"

namespace headway::rails {

class health;
class memory;
class shm_slots;

using processes::peer_id;

/// What a rail can do. Constant after `open`.
struct limits {
  const char* name = "";             ///< "shm", "tcp:eth0"
  std::size_t header_bytes_max = 0;  ///< of a packet's header; at least 64
  std::size_t eager_bytes_max = 0;   ///< of a packet's payload
  std::size_t whole_bytes_max = 0;   ///< of one that `takes_whole`; less than 2^24
  std::size_t inline_bytes_max = 0;  ///< payload up to here is always `done`, never `posted`
  std::uint32_t poll_cost_ns = 0;    ///< of a `reap` that finds nothing; order of magnitude
  /// one way; order of magnitude; of several rails the lowest comes first
  std::uint32_t latency_ns = 0;
  /// more frequent background polling has no benefit; 0: any period
  std::uint32_t poll_period_ns = 0;
  bool wakes = false;      ///< `descriptor` and `arm` can end a sleep
  bool silent = false;     ///< `descriptor` is readable only while armed, which is cheap
  bool lets_wait = false;  ///< packets that `can_wait` end no sleep of `arm_for_hurried`
  bool queues = false;     ///< what was `done` may wait in the driver: see `unsent`
  std::size_t lent_bytes_min = SIZE_MAX;  ///< payloads from here on may be `lent`
};

/// A packet to send: a header, then a payload that may stay in the user's memory.
struct packet {
  std::span<const std::byte> header = {};
  std::span<const std::byte> payload = {};
  std::uint64_t cookie = 0;  ///< returned in `sent` or `failed` if the answer was `posted`
  bool alone = false;  ///< answer `retry` rather than queue it in the driver behind another packet
  bool in_parts = false;  ///< may be received in parts, so that both ends copy at the same time
  /// Nothing depends on it but the thread that wants it, which polls: see `arm_for_hurried`.
  bool can_wait = false;
  /// The payload does not change before `reclaim`, not even after `done` or `sent`: a driver that
  /// may have to send it again need not copy it. Only from `lent_bytes_min` on.
  bool lent = false;
};

/// The answer of a driver to a packet, or to an operation of `memory`.
enum class post : std::uint8_t {
  done,    ///< taken; header and payload may be reused now, and no event follows here
  posted,  ///< taken; the driver uses `payload` (not `header`) until it reports `cookie`, once
  /// nothing was taken; try again after a `reap` that reported something, or later. There is room
  /// again as soon as the peer reaps and releases, or `sent` is reported
  retry,
  down,  ///< this peer cannot be reached over this rail any more
};

enum class event_kind : std::uint8_t {
  /// `bytes` = header then payload, readable until `release`; 8-byte aligned. `count`: so many
  /// bytes of the payload follow in `continued`. Only of a packet that was sent `in_parts`
  received,
  /// `bytes` = the next bytes of the packet of `peer` that was received last, readable until
  /// `release`; `count` as in `received`
  continued,
  landed,  ///< `count` more bytes that `peer` put have arrived in the exposure whose token is
           ///< `cookie`. The counts of a `put` add up to its size. Only for exposures with
           ///< access::notified
  /// what was posted with `cookie` has succeeded: its payload may be reused; that of a `get` or an
  /// `atomic` is filled
  sent,
  /// what was posted with `cookie` will not be done, or not whole: the peer is lost, this or the
  /// other side has closed, or the peer refuses it; its payload may be reused
  failed,
  /// `peer` is gone on this rail: nothing more comes from it. Reported once per peer, and once more
  /// after each `revive`, behind everything that the peer sent before. A peer that called `close`
  /// is not lost: sends to it answer `down`. `count` 1: its machine reports that the process itself
  /// is gone
  lost,
  restored,  ///< after `lost` and `revive`: `peer` is back on this rail, with nothing from before
  /// `peer`, for which `connect` was not called yet, has sent something, which is kept until then.
  /// The driver has added the peer to the table of processes if it was not there. Once per peer,
  /// and possibly while `connect` runs
  called,
};

struct event {
  event_kind kind = event_kind::received;
  peer_id peer{};
  std::uint64_t count = 0;
  std::uint64_t cookie = 0;
  std::span<const std::byte> bytes = {};
  std::uint64_t driver_word = 0;  ///< used by the driver for `release`
};

/// One way to move bytes to peers: self, shared memory, TCP. This is the first of a driver's two
/// contracts; the second is memory.hpp. Optional powers are returned by `memory`, `health` and
/// `slots`.
///
/// Names:    a `peer_id` is the index of a process in this process's `processes::table`. Other
///           processes have other tables: on the wire a driver names processes by job and rank,
///           from the table. Its constructor gets the peer_id of its own process.
/// Order:    packets arrive whole, once, in the order of `send`, per peer. Between the parts of a
///           packet, no other packet of the peer arrives.
/// Threads:  `send`: one thread at a time per peer. `reap` and `release` together: one thread at a
///           time per driver. `connect`: one thread at a time per driver, any thread, also one that
///           has just reaped. All of these may run at the same time, and together with `arm` and
///           `tick` [any thread]. `open`, `close`: with no other thread.
/// Progress: only `open`, `connect`, `close` may block or allocate without bound. Packets that were
///           taken and have not left, and connections, advance inside `reap`.
/// Errors:   bytes from outside are never trusted; a peer that violates the format is `lost`, an
///           unknown caller is dropped, with one line in the log.
/// Source:   multirail08 (transfer layer, mechanism 13); the shape of the contract after nng's.
class driver {
 public:
  virtual ~driver() = default;

  [[nodiscard]] virtual limits query() const noexcept = 0;
  /// Of packets to this peer, which is connected: constant from then on, and none above those of
  /// `query`.
  [[nodiscard]] virtual limits packet_limits_to(peer_id /*peer*/) const noexcept { return query(); }
  /// Gets ready and returns the address that peers need for `connect`.
  [[nodiscard]] virtual base::result<std::vector<std::byte>> open() = 0;
  /// Makes `peer` reachable by the address that its `open` returned, once, at any time while open.
  /// The connection itself may be made on first use; `connect` does not wait for anything that
  /// `reap` does. `unsupported`: that address cannot be reached from here (it is on another
  /// machine, for example). What a peer has sent before `connect` is kept and reported afterwards,
  /// also if the peer has closed or died since. Until then sends to it answer `down`.
  [[nodiscard]] virtual base::result<> connect(peer_id peer,
                                               std::span<const std::byte> address) = 0;
  /// Instead of `connect`, for a peer to which packets are sent over another rail: what it sends
  /// over this one is received. Also where `connect` has failed.
  [[nodiscard]] virtual base::result<> admit(peer_id peer, std::span<const std::byte> address) {
    return connect(peer, address);
  }
  [[nodiscard]] virtual post send(peer_id peer, const packet& what) noexcept = 0;
  /// Whether `send` takes a packet `in_parts` with so many bytes of payload now, although they are
  /// more than `eager_bytes_max`. At most `whole_bytes_max`, both of that peer. For the thread that
  /// may send; for others, a hint.
  [[nodiscard]] virtual bool takes_whole(peer_id /*peer*/, std::size_t /*bytes*/) const noexcept {
    return false;
  }
  /// Writes at most `out.size()` events and returns how many. 0: idle. To a background thread
  /// (base/thread_role.hpp) a driver may return 0 once after it has reported everything, although
  /// more has come since, if `descriptor` is readable then.
  [[nodiscard]] virtual std::size_t reap(std::span<event> out) noexcept = 0;
  /// Gives back the memory of a `received` or `continued` event: each exactly once, in the order of
  /// the events.
  virtual void release(const event& received) noexcept = 0;
  /// What was `lent` to this peer and is `done` or `sent` may change from now on. [any thread]
  virtual void reclaim(peer_id /*peer*/) noexcept {}
  /// A descriptor to sleep on (see progress::event_source), or -1.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  /// true: the caller is about to sleep; make `descriptor` readable when there is something to reap
  /// or a peer that answered `retry` can take more; returns false if there already is. false: it is
  /// awake again.
  [[nodiscard]] virtual bool arm(bool sleeping) noexcept = 0;
  /// As `arm(true)`, but `descriptor` need not become readable for packets that `can_wait`, or
  /// that come from this process itself, and there is nothing to reap if there are only such ones.
  /// Once a sender lacks the room that they take, they can wait no longer.
  [[nodiscard]] virtual bool arm_for_hurried() noexcept { return arm(true); }
  /// Whether packets that were `done` still wait for a `reap` to send them, on a connection or for
  /// one. Only where the limits say `queues`. [any thread]
  [[nodiscard]] virtual bool unsent() const noexcept { return false; }
  /// Called about every 33 ms while something is pending: checks peers' health and time limits.
  /// The next `reap` reports what it finds. [any thread]
  virtual void tick(std::uint64_t now_ns) noexcept = 0;
  /// Access to exposed memory of peers, or null. While open.
  [[nodiscard]] virtual rails::memory* memory() noexcept { return nullptr; }
  /// Cutting and restoring connections, or null: a peer's connection lives as long as the peer.
  [[nodiscard]] virtual rails::health* health() noexcept { return nullptr; }
  /// Memory in which the processes of a node publish small values for each other, or null. While
  /// open.
  [[nodiscard]] virtual shm_slots* slots() noexcept { return nullptr; }
  /// Sends what was taken, for at most a second, then shuts down: afterwards no payload is read and
  /// no exposed byte is touched. `reap` then still reports how each posted packet or operation
  /// ended, and nothing else. Idempotent.
  virtual void close() noexcept = 0;
};

}  // namespace headway::rails
