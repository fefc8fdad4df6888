#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "messages/request.hpp"
#include "packets/peers.hpp"
#include "progress/engine.hpp"

namespace headway::messages {

enum class send_mode : std::uint8_t {
  standard,
  synchronous,
  ready,
  give_up,  ///< the sender has failed: whoever receives this instead of data ends as `peer_lost`
};

/// A message that arrived before its receive, taken out of the matching by a matched probe.
struct parked;

/// A matching space with a rank order: one side (point-to-point or collective) of a communicator.
/// Threads:  every function any thread; the table of ranks is immutable. Made by
///           `exchange::open_context`, ended by `close_context`.
class context;
struct exchange_parts;

/// Tag matching, eager and rendezvous, over `packets`. One per process.
///
/// Threads:  every function any thread. Messages between one pair of ranks in one context match in
///           the order in which their sends were started; starts that race have no order.
/// Progress: no function waits, polls or allocates without bound. What they start goes on at the
///           engine's polling points; the caller waits with `engine().wait(request)`.
/// Errors:   reported in `request::arrived.how`; a rank or tag out of range is the caller's bug.
/// Source:   pioman15 and multirail08 (collect layer); MPI-5.0 sections 3.5, 3.8; matching bins
///           after Denis, CCGrid 2019.
class exchange {
 public:
  exchange(packets::peers& peers, progress::engine& engine);
  ~exchange();
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  /// `world_ranks[i]` is the process that is rank i; `self` my own rank. `id` (< `context_ids`)
  /// must be the same on all of them and in no other use. Local; earlier messages are kept.
  /// When a process is lost, receives that could be its own end as `peer_lost`; in a `collective`
  /// context all of them do, because the others wait for the lost one in turn.
  [[nodiscard]] context* open_context(std::uint32_t id, int self,
                                      std::vector<std::uint32_t> world_ranks,
                                      bool collective = false);
  /// After its last request: forgets the context and what still waits in it. Waits, for a round.
  void close_context(context* where) noexcept;
  static constexpr std::uint32_t context_ids = 1u << 16;

  /// How messages of this context are given to the rails of peers that have several, from now on;
  /// until then as HEADWAY_STRATEGY says. False: there is none of that name, nothing has changed.
  [[nodiscard]] static bool use_strategy(context& where, std::string_view name) noexcept;
  [[nodiscard]] static std::string_view strategy_of(const context& where) noexcept;
  [[nodiscard]] static std::vector<std::string_view> strategy_names();

  /// `data` must stay as it is until the request is complete.
  [[gnu::hot]] void send(context& where, request& r, std::span<const std::byte> data,
                         int destination, int tag, send_mode mode = send_mode::standard) noexcept;
  /// Writes at most `room.size()` bytes; a longer message is cut and ends as `truncated`.
  [[gnu::hot]] void receive(context& where, request& r, std::span<std::byte> room, int source,
                            int tag) noexcept;
  /// A receive that has not matched ends as `cancelled`, at once. Others are left alone.
  void cancel(request& r) noexcept;

  /// Is a message there that such a receive would match? Polls once when not. Also true, with
  /// `found.how == outcome::peer_lost`, when its sender is gone.
  [[nodiscard]] bool probe(context& where, int source, int tag, arrival& found) noexcept;
  /// The same, and takes it: only `receive_parked` can have it then. nullptr: none is there, or
  /// `found.how` says that none will be.
  [[nodiscard]] parked* probe_matched(context& where, int source, int tag, arrival& found) noexcept;
  /// Waits until `probe` would say true, though another thread may take the message first.
  void await_message(context& where, int source, int tag) noexcept;
  void receive_parked(context& where, request& r, parked* message,
                      std::span<std::byte> room) noexcept;

  // Zones opened ahead, for a room above that tells a sender itself where its message may go: then
  // the message is neither announced nor asked for. `landing_id::none`: not now, or never from a
  // process that several rails reach, or is lost; nothing: the process was lost meanwhile, and `r`
  // is complete. The sender is trusted with `room` until the zone is closed.
  [[nodiscard]] std::optional<rails::landing_id> open_zone(context& where, request& r,
                                                           std::span<std::byte> room,
                                                           int source) noexcept;
  /// The message that comes, or has come, to the zone of `r` has so many bytes (1 to those of the
  /// room): when they are there, `r` is complete. Once, inside a call of `packets::receiver` that
  /// brings something from that process.
  void expect(request& r, std::size_t bytes) noexcept;
  /// Its request, which is the caller's again; a round may still look at it (`close_context`)
  /// unless it is one of that process's own. nullptr: the request is complete, or will be soon.
  [[nodiscard]] request* close_zone(context& where, rails::landing_id zone, int source) noexcept;
  /// To a zone that the receiver has opened for us; it tells its own room above how much comes.
  void send_to_zone(context& where, request& r, std::span<const std::byte> data, int destination,
                    rails::landing_id zone) noexcept;

  [[nodiscard]] progress::engine& engine() noexcept;

 private:
  std::unique_ptr<exchange_parts> parts_;
};

}  // namespace headway::messages
