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
  give_up,  ///< the sender has failed: the receive of this message ends as `peer_lost`
};

/// A message that arrived before its receive; a matched probe takes it out of the matching.
struct unexpected_message;

/// A matching space with a rank order: one side (point-to-point or collective) of a communicator.
/// Made by `exchange::open_context`, ended by `close_context`.
class context;
class operation_log;
struct exchange_parts;

/// Sends and receives messages between the ranks of a context: tag matching, eager and rendezvous,
/// over the module `packets`. One for each runtime.
/// Threads:  every function any thread. Messages between one pair of ranks in one context match in
///           the order in which their sends were started; starts that race have no order.
/// Progress: no function waits unless it says so. What they start continues at the engine's polling
///           points; the caller waits with `engine().wait(request)`.
/// Errors:   reported in `request::arrived.how`; a rank or tag out of range is the caller's bug.
/// Source:   pioman15 and multirail08 (docs/papers.md); MPI-5.0 sections 3.5, 3.8; matching bins
///           after Denis, CCGrid 2019.
class exchange {
 public:
  exchange(packets::peers& peers, progress::engine& engine);
  ~exchange();
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  /// Opens a context. `members` are the processes that messages go to and come from; `self` is this
  /// process's rank as they know it: among `members`, or in a second group, whose members open the
  /// context with the first as theirs. All use the same `name` (numbers.hpp), and its number for
  /// nothing else at the time. Local: messages that arrived before are kept and delivered.
  /// When a member is lost, receives that only it could match, and those from `any_source`, end as
  /// `peer_lost`; in a `collective` context all do, because the other members wait for it too.
  /// There a message that is longer or shorter than its receive's memory ends all receives of its
  /// tag, on all ranks, as `failed`, if that is one of `operation_tags`. All receives with these
  /// tags do when the logs of two ranks differ (operation_log.hpp), which is looked for when a rank
  /// waits longer than a tick of the engine.
  [[nodiscard]] context* open_context(const context_name& name, int self,
                                      processes::membership_ref members, bool collective = false);
  /// Ends a context whose requests are all complete, and discards its unexpected messages. Waits
  /// until one ltask has run.
  void close_context(context* where) noexcept;

  /// In a collective context, `expects(request.owner, source)` says of a receive that waits whether
  /// its operation has a receive from that rank. An operation for which a message comes from
  /// another rank is failed on all ranks: they were called with different counts. Before the first
  /// receive. The function is called under a lock of this module.
  static void use_expectation(context& where,
                              bool (*expects)(const void* owner, int source) noexcept) noexcept;

  /// Makes the peer of a member, for callers that reach it without messages, through shared memory.
  static void use_member(context& where, int rank) noexcept;

  /// Of a collective context.
  [[nodiscard]] static operation_log& log_of(context& where) noexcept;

  /// Sets the strategy of this context's messages to peers with several rails; the initial one is
  /// HEADWAY_STRATEGY's. False: no strategy has that name, and nothing changes.
  [[nodiscard]] static bool use_strategy(context& where, std::string_view name) noexcept;
  [[nodiscard]] static std::string_view strategy_of(const context& where) noexcept;
  [[nodiscard]] static std::vector<std::string_view> strategy_names();
  /// Messages of this context that are sent from now on pass those of others that wait for the same
  /// rail, but none of its own.
  static void set_urgent(context& where, bool is) noexcept;
  [[nodiscard]] static bool is_urgent(const context& where) noexcept;

  /// From now on it is noted when a request to send comes, for `request::times`.
  void keep_times() noexcept;

  struct waiting_counts {
    std::size_t posted = 0, unexpected = 0;
  };
  /// How many receives are posted and how many messages are unexpected, at this moment. Takes time
  /// in proportion.
  [[nodiscard]] static waiting_counts count_waiting(context& where) noexcept;

  /// Starts a send. `data` must not change until the request is complete.
  [[gnu::hot]] void send(context& where, request& r, std::span<const std::byte> data,
                         int destination, label as, send_mode mode = send_mode::standard) noexcept;
  /// Sends a `standard` message of at most `prompt_bytes_max` at once and without a request. False:
  /// it was not sent, because others wait, credits are short or the rail takes nothing now, and
  /// `send` is to be called. Always false where other threads send (HEADWAY_OFFLOAD).
  [[nodiscard, gnu::hot]] bool send_now(context& where, std::span<const std::byte> data,
                                        int destination, int tag) noexcept;
  static constexpr std::size_t prompt_bytes_max = 4096;
  /// Ends a send that is not made as `failed`, at once.
  void end_unsent(request& r) noexcept;
  /// Starts a receive. A message longer than `memory` is cut and ends as `truncated`.
  [[gnu::hot]] void receive(context& where, request& r, std::span<std::byte> memory, int source,
                            label as) noexcept;
  /// The same for data that is not one block. `data` is used until the request is complete. Then
  /// the request is to `forget_scattered` if it is used again for a block.
  void send(context& where, request& r, scattered_memory& data, int destination, int tag,
            send_mode mode = send_mode::standard) noexcept;
  void receive(context& where, request& r, scattered_memory& memory, int source, int tag) noexcept;
  /// Ends a receive that has not matched as `cancelled`, at once. Has no effect on other requests.
  void cancel(request& r) noexcept;

  /// Whether a message has arrived that such a receive would match; polls once if not. Also true,
  /// with `found.how == outcome::peer_lost`, when the sender is lost.
  [[nodiscard]] bool probe(context& where, int source, int tag, arrival& found) noexcept;
  /// The same, and takes the message out of the matching, for `receive_unexpected`. nullptr: none
  /// has arrived, or, as `found.how` says, none will.
  [[nodiscard]] unexpected_message* probe_matched(context& where, int source, int tag,
                                                  arrival& found) noexcept;
  /// Waits until `probe` would return true. Another thread may take the message first.
  void await_message(context& where, int source, int tag) noexcept;
  /// Receives a message that `probe_matched` took; frees it.
  void receive_unexpected(context& where, request& r, unexpected_message* message,
                          std::span<std::byte> memory) noexcept;
  void receive_unexpected(context& where, request& r, unexpected_message* message,
                          scattered_memory& memory) noexcept;

  // Preposted memory, for a module above that names the memory to the sender itself: the message
  // then needs no request to send and no clear to send. See packets::rendezvous.
  /// Exposes `memory` to `source`, which may write to it until it is withdrawn. A result with
  /// number 0: impossible at present, or for this process at all.
  [[nodiscard]] packets::preposted prepost(context& where, request& r, std::span<std::byte> memory,
                                           int source) noexcept;
  /// States the length of the message for the preposted memory of `r`: 1 to the memory's bytes. `r`
  /// completes when they have arrived, which may be before this call. Once, inside a call of
  /// `packets::receiver` for a packet from that process.
  void expect(request& r, std::size_t bytes) noexcept;
  /// Ends the exposure and returns its request to the caller. A concurrent round of the reaper may
  /// still read the request; `close_context` waits for that. nullptr: the request is complete, or
  /// will be soon.
  [[nodiscard]] request* withdraw(std::uint32_t preposted_number) noexcept;
  /// Sends to memory that `destination` has preposted. The caller's module sends the receiver
  /// the length, for `expect`.
  void put(context& where, request& r, std::span<const std::byte> data, int destination,
           const packets::preposted& into) noexcept;

  [[nodiscard]] progress::engine& engine() noexcept;

 private:
  std::unique_ptr<exchange_parts> parts_;
};

}  // namespace headway::messages
