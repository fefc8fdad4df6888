#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace headway::rails {

class board;
class neighbours;

/// A process of the job: its rank in MPI_COMM_WORLD's numbering.
enum class peer_id : std::uint32_t {};

/// Names a landing zone of one receiving process; chosen by the receiver, sent to the sender in an
/// ordinary packet. 0 is none.
enum class landing_id : std::uint32_t { none = 0 };

/// What a rail can do. Constant after `open`.
struct limits {
  const char* name = "";             ///< "shm", "tcp:eth0"
  std::size_t header_bytes_max = 0;  ///< of a packet's header; at least 64
  std::size_t eager_bytes_max = 0;   ///< of a packet's payload without a landing zone
  std::size_t inline_bytes_max = 0;  ///< payload up to here is always `done`, never `posted`
  std::uint32_t poll_cost_ns = 0;    ///< of a `reap` that finds nothing, as an order of size
  std::uint32_t latency_ns = 0;      ///< one way, as an order of size: nearer rails come first
  std::uint32_t poll_period_ns = 0;  ///< background polling more often does not pay; 0: any period
  bool wakes = false;                ///< `descriptor` and `arm` can end a sleep
  bool severable = false;  ///< may be cut while the peer lives: a second rail beside it is
                           ///< worth having, and `sever` and `revive` do something
};

/// A unit of sending: a header, then a payload that may stay in the user's memory.
struct packet {
  std::span<const std::byte> header = {};
  std::span<const std::byte> payload = {};
  landing_id landing = landing_id::none;  ///< none: payload arrives behind the header, in the event
  std::uint64_t offset = 0;               ///< where in the landing zone the payload goes, bytes
  std::uint64_t cookie = 0;               ///< comes back in `sent` if the answer was `posted`
  bool alone = false;  ///< without a zone: `retry` rather than wait in the driver behind another
};

enum class post : std::uint8_t {
  done,    ///< taken; header and payload may be reused now, and no event follows here
  posted,  ///< taken; the driver reads `payload` (not `header`) until it reports `cookie`, once
  retry,   ///< nothing was taken; ask again after a `reap` that reported something, or later. The
           ///< rail itself makes room as soon as the peer reaps and releases, or `sent` comes
  down,    ///< this peer cannot be reached over this rail any more
};

enum class event_kind : std::uint8_t {
  received,  ///< `bytes` = header then payload, readable until `release`; 8-byte aligned
  landed,    ///< `count` more bytes have arrived in landing zone `landing`; a payload's counts add
             ///< up to its size, each byte is counted once. Bytes for a zone that is not open are
             ///< dropped without an event
  sent,      ///< the posted packet `cookie` was taken whole: its payload may be reused
  failed,    ///< the posted packet `cookie` will not be sent: the peer is lost or has closed, or
             ///< we have
  lost,      ///< `peer` is gone on this rail: nothing more comes from it. Once per peer, and once
             ///< more after each `revive`. What it sent before is reported first. A peer that
             ///< called `close` is not lost: sends to it answer `down`. `count` 1: its machine says
             ///< that the process itself is gone
  restored,  ///< after `lost` and `revive`: `peer` is back on this rail, with nothing of before
};

struct event {
  event_kind kind = event_kind::received;
  peer_id peer{};
  landing_id landing = landing_id::none;
  std::uint64_t count = 0;
  std::uint64_t cookie = 0;
  std::span<const std::byte> bytes = {};
  std::uint64_t driver_word = 0;  ///< the driver's own, for `release`
};

/// One way to move bytes to peers: self, shared memory, TCP.
///
/// Order:    packets without a landing zone arrive whole, once, in the order of `send`, per peer.
///           A packet with one may overtake and be overtaken; its header, if any, arrives as an
///           ordinary `received` event of its own place in the order only when payload is empty;
///           with a landing zone the header must be empty.
/// Threads:  `send`: one thread at a time per peer. `reap` and `release` together: one thread at a
///           time per driver. Both may run beside each other, and beside `land`, `unland`, `arm`,
///           `tick` [any thread]. `open`, `connect`, `close`: alone.
/// Progress: only `open`, `connect`, `close` may block or allocate without bound. Posted packets
///           and connections advance inside `reap`.
/// Errors:   bytes from outside are never trusted; a peer that breaks the format is `lost`, an
///           unknown caller is dropped, with one line in the log.
/// Source:   multirail08 (transfer layer, mechanism 13); the shape of the contract after nng's.
class driver {
 public:
  virtual ~driver() = default;

  [[nodiscard]] virtual limits query() const noexcept = 0;
  /// Gets ready and returns the address that peers need for `connect`.
  [[nodiscard]] virtual base::result<std::vector<std::byte>> open() = 0;
  /// Makes `peer` known by what its `open` returned. The connection itself may be made on first
  /// use. `unsupported`: that address cannot be reached from here (another machine, say).
  /// What a peer sends before it is known here is kept and reported after this call.
  [[nodiscard]] virtual base::result<> connect(peer_id peer,
                                               std::span<const std::byte> address) = 0;
  [[nodiscard]] virtual post send(peer_id peer, const packet& what) noexcept = 0;
  /// Opens zone `id`: pieces that `peer` sends to it are written into `target` and reported as
  /// `landed`. [any thread] False: no room for another zone now, ask again later.
  [[nodiscard]] virtual bool land(peer_id peer, landing_id id,
                                  std::span<std::byte> target) noexcept = 0;
  /// Closes the zone; after return the driver writes nothing there. [any thread]
  virtual void unland(landing_id id) noexcept = 0;
  /// Writes at most `out.size()` events and returns how many. 0: idle.
  [[nodiscard]] virtual std::size_t reap(std::span<event> out) noexcept = 0;
  /// Gives back the memory of a `received` event: each exactly once, in the order of the events.
  virtual void release(const event& received) noexcept = 0;
  /// What to sleep on (see progress::event_source), or -1.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  /// true: about to sleep, make `descriptor` readable when there is something to reap or a peer
  /// that answered `retry` can take more; returns false if there is already. false: awake again.
  [[nodiscard]] virtual bool arm(bool sleeping) noexcept = 0;
  /// About every 100 ms while something is pending: look after peers' health and time limits.
  /// What it finds is reported by the next `reap`. [any thread]
  virtual void tick(std::uint64_t now_ns) noexcept = 0;
  /// Gives up the connection to `peer`, which is too slow or silent: `lost` will follow, unless it
  /// was lost already. Does nothing on a rail that is not severable. [any thread]
  virtual void sever(peer_id peer) noexcept { static_cast<void>(peer); }
  /// After `lost`: lets `peer` in again and calls it for a while. Ends in `restored` or in another
  /// `lost`. [any thread]
  virtual void revive(peer_id peer) noexcept { static_cast<void>(peer); }
  /// When this peer or its machine's kernel was last heard of (base::now_ns); 0: it cannot tell.
  [[nodiscard]] virtual std::uint64_t heard_ns(peer_id peer) noexcept {  ///< [any thread]
    static_cast<void>(peer);
    return 0;
  }
  /// The lines of memory that processes of a node show each other, or null. While open.
  [[nodiscard]] virtual board* shared_board() noexcept { return nullptr; }
  /// Those whose memory can be touched from here, or null. While open.
  [[nodiscard]] virtual neighbours* memory_nearby() noexcept { return nullptr; }
  /// Sends what was taken as far as a second allows, then shuts down: no payload is read and no
  /// zone written any more. `reap` then still reports how each posted packet ended, and nothing
  /// else. Idempotent.
  virtual void close() noexcept = 0;
};

}  // namespace headway::rails
