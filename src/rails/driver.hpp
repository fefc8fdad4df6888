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
  std::size_t inline_bytes_max = 0;  ///< payload up to here is always `done`, never `posted`
  std::uint32_t poll_cost_ns = 0;    ///< of a `reap` that finds nothing, as an order of magnitude
  std::uint32_t latency_ns = 0;      ///< one way, the same; of several rails the lowest comes first
  std::uint32_t poll_period_ns = 0;  ///< background polling more often does not pay; 0: any period
  bool wakes = false;                ///< `descriptor` and `arm` can end a sleep
  bool queues = false;               ///< what was `done` may wait in the driver: see `unsent`
};

/// A unit of sending: a header, then a payload that may stay in the user's memory.
struct packet {
  std::span<const std::byte> header = {};
  std::span<const std::byte> payload = {};
  std::uint64_t cookie = 0;  ///< comes back in `sent` or `failed` if the answer was `posted`
  bool alone = false;        ///< `retry` rather than wait in the driver behind another packet
};

/// How a driver answers a packet, or an operation of `memory`.
enum class post : std::uint8_t {
  done,    ///< taken; header and payload may be reused now, and no event follows here
  posted,  ///< taken; the driver uses `payload` (not `header`) until it reports `cookie`, once
  retry,   ///< nothing was taken; ask again after a `reap` that reported something, or later. The
           ///< rail itself makes room as soon as the peer reaps and releases, or `sent` comes
  down,    ///< this peer cannot be reached over this rail any more
};

enum class event_kind : std::uint8_t {
  received,  ///< `bytes` = header then payload, readable until `release`; 8-byte aligned
  landed,    ///< `count` more bytes that `peer` put have arrived in the exposure whose token is
             ///< `cookie`. The counts of a `put` add up to its size, each byte is counted once.
             ///< Of exposures with access::notified only
  sent,      ///< what was posted with `cookie` has ended well: its payload may be reused, of a
             ///< `get` or an `atomic` it is filled
  failed,    ///< what was posted with `cookie` will not be done, or not whole: the peer is lost or
             ///< has closed, or we have, or the peer refuses it; its payload may be reused
  lost,      ///< `peer` is gone on this rail: nothing more comes from it. Once per peer, and once
             ///< more after each `revive`. What it sent before is reported first. A peer that
             ///< called `close` is not lost: sends to it answer `down`. `count` 1: its machine says
             ///< that the process itself is gone
  restored,  ///< after `lost` and `revive`: `peer` is back on this rail, with nothing of before
  called,    ///< `peer`, for which `connect` was not called yet, has sent something: it is kept
             ///< until then. The driver has added it to the table of processes if it was not there.
             ///< Once per peer, and possibly while `connect` runs
};

struct event {
  event_kind kind = event_kind::received;
  peer_id peer{};
  std::uint64_t count = 0;
  std::uint64_t cookie = 0;
  std::span<const std::byte> bytes = {};
  std::uint64_t driver_word = 0;  ///< the driver's own, for `release`
};

/// One way to move bytes to peers: self, shared memory, TCP. The first of a driver's two contracts;
/// the second is memory.hpp. What only some drivers can do is asked for: `memory`, `health`,
/// `slots`.
///
/// Names:    a `peer_id` is the place of a process in this process's `processes::table`. Other
///           processes have other tables: a driver names itself and its peers to them by job and
///           rank, as the table says. It is told at construction which process it is.
/// Order:    packets arrive whole, once, in the order of `send`, per peer.
/// Threads:  `send`: one thread at a time per peer. `reap` and `release` together: one thread at a
///           time per driver. `connect`: one thread at a time per driver, whichever it is, also one
///           that has just reaped. All of them may run beside each other, and beside `arm`, `tick`
///           [any thread]. `open`, `close`: alone.
/// Progress: only `open`, `connect`, `close` may block or allocate without bound. Packets that were
///           taken and have not left, and connections, advance inside `reap`.
/// Errors:   bytes from outside are never trusted; a peer that breaks the format is `lost`, an
///           unknown caller is dropped, with one line in the log.
/// Source:   multirail08 (transfer layer, mechanism 13); the shape of the contract after nng's.
class driver {
 public:
  virtual ~driver() = default;

  [[nodiscard]] virtual limits query() const noexcept = 0;
  /// Gets ready and returns the address that peers need for `connect`.
  [[nodiscard]] virtual base::result<std::vector<std::byte>> open() = 0;
  /// Makes `peer` known by what its `open` returned, once, at any time while open. The connection
  /// itself may be made on first use, and waits for nothing that `reap` does. `unsupported`: that
  /// address cannot be reached from here (another machine, say). What a peer has sent before it is
  /// known here is kept and reported after this call, also if the peer has closed since, or died.
  /// Until then sends to it answer `down`.
  [[nodiscard]] virtual base::result<> connect(peer_id peer,
                                               std::span<const std::byte> address) = 0;
  [[nodiscard]] virtual post send(peer_id peer, const packet& what) noexcept = 0;
  /// Writes at most `out.size()` events and returns how many. 0: idle.
  [[nodiscard]] virtual std::size_t reap(std::span<event> out) noexcept = 0;
  /// Gives back the memory of a `received` event: each exactly once, in the order of the events.
  virtual void release(const event& received) noexcept = 0;
  /// What to sleep on (see progress::event_source), or -1.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  /// true: about to sleep, make `descriptor` readable when there is something to reap or a peer
  /// that answered `retry` can take more; returns false if there is already. false: awake again.
  [[nodiscard]] virtual bool arm(bool sleeping) noexcept = 0;
  /// Whether packets that were `done` still wait for a `reap` to send them, on a connection or for
  /// one. Only where the limits say `queues`. [any thread]
  [[nodiscard]] virtual bool unsent() const noexcept { return false; }
  /// About every 100 ms while something is pending: look after peers' health and time limits.
  /// What it finds is reported by the next `reap`. [any thread]
  virtual void tick(std::uint64_t now_ns) noexcept = 0;
  /// Access to exposed memory of peers, or null. While open.
  [[nodiscard]] virtual rails::memory* memory() noexcept { return nullptr; }
  /// Cutting and making connections again, or null: a peer's connection lives as long as the peer.
  [[nodiscard]] virtual rails::health* health() noexcept { return nullptr; }
  /// The lines of memory that processes of a node show each other, or null. While open.
  [[nodiscard]] virtual shm_slots* slots() noexcept { return nullptr; }
  /// Sends what was taken as far as a second allows, then shuts down: no payload is read and no
  /// exposed byte touched any more. `reap` then still reports how each posted packet or operation
  /// ended, and nothing else. Idempotent.
  virtual void close() noexcept = 0;
};

}  // namespace headway::rails
