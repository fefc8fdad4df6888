#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "messages/numbers.hpp"
#include "messages/request.hpp"
#include "packets/peers.hpp"
#include "processes/membership.hpp"
#include "progress/core/engine.hpp"

namespace headway::messages {

enum class send_mode : std::uint8_t {
  standard,
  synchronous,
  ready,
  give_up,  ///< the sender has failed: whoever receives this instead of data ends as `peer_lost`
};

/// A message that arrived before its receive, taken out of the matching by a matched probe.
struct unexpected_message;

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

  /// `members` are the processes that messages go to and come from. `self` is this process's rank
  /// as they know it: among `members`, or in a second group whose members have opened the context
  /// with the ranks of the first. `id` (see numbers.hpp) must be the same on all of them and in no
  /// other use. Local; messages that came before are kept and found.
  /// When a process is lost, receives that could be its own end as `peer_lost`; in a `collective`
  /// context all of them do, because the others wait for the lost one in turn.
  [[nodiscard]] context* open_context(std::uint32_t id, int self, processes::membership_ref members,
                                      bool collective = false);
  /// After its last request: forgets the context and what still waits in it. Waits, for a round.
  void close_context(context* where) noexcept;

  /// Makes peers of all members: for what reaches them past this module, as shared memory does.
  static void use_members(context& where) noexcept;

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
  /// The same, and takes it: only `receive_unexpected` can have it then. nullptr: none is there, or
  /// `found.how` says that none will be.
  [[nodiscard]] unexpected_message* probe_matched(context& where, int source, int tag,
                                                  arrival& found) noexcept;
  /// Waits until `probe` would say true, though another thread may take the message first.
  void await_message(context& where, int source, int tag) noexcept;
  void receive_unexpected(context& where, request& r, unexpected_message* message,
                          std::span<std::byte> room) noexcept;

  // Preposted memory, for a module above that tells a sender itself where its message may go: the
  // message is then neither announced nor asked for. See packets::rendezvous.
  /// Number 0: not now, or never from this process. The sender is trusted with the memory until it
  /// is withdrawn.
  [[nodiscard]] packets::preposted prepost(context& where, request& r, std::span<std::byte> memory,
                                           int source) noexcept;
  /// The message that comes, or has come, into the memory of `r` has so many bytes (1 to those of
  /// the memory): when they are there, `r` is complete. Once, inside a call of `packets::receiver`
  /// that brings something from that process.
  void expect(request& r, std::size_t bytes) noexcept;
  /// Its request, which is the caller's again; a round may still look at it (`close_context`)
  /// unless it is one of that process's own. nullptr: the request is complete, or will be soon.
  [[nodiscard]] request* withdraw(std::uint32_t preposted_number) noexcept;
  /// Into memory that the receiver has preposted for us; it tells its own module above how much
  /// comes.
  void put(context& where, request& r, std::span<const std::byte> data, int destination,
           const packets::preposted& into) noexcept;

  [[nodiscard]] progress::engine& engine() noexcept;

 private:
  std::unique_ptr<exchange_parts> parts_;
};

}  // namespace headway::messages
