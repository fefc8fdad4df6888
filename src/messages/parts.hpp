#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "base/id_table.hpp"
#include "base/spinlock.hpp"
#include "messages/context.hpp"
#include "messages/exchange.hpp"
#include "messages/wire.hpp"
#include "packets/peers.hpp"

namespace headway::messages {

/// The inside of `exchange`: what arrives (arrivals.cpp), and rendezvous (rendezvous.cpp).
///
/// Threads:  `arrived`, `landed`, `lost` by the reaper; the rest any thread.
/// Locks:    context::lock, early_lock, waiting_lock and the tables' own; none is held while
///           another is taken, but early_lock before context::lock; none across `complete`.
struct exchange_parts final : packets::receiver {
  exchange_parts(packets::peers& all, progress::engine& own)
      : peers(all), engine(own), coarse(own.locks() == progress::locking::coarse) {}
  ~exchange_parts();

  [[gnu::hot]] void arrived(packets::peer& from,
                            std::span<const std::byte> bytes) noexcept override;
  void landed(rails::landing_id zone, std::uint64_t bytes) noexcept override;
  void lost(packets::peer& whom) noexcept override;
  std::span<const std::byte> offered(packets::peer& to, std::uint32_t send_id,
                                     void*& owner) noexcept override;
  void pushed(void* owner, bool well) noexcept override;
  void pulled(void* owner, bool well) noexcept override;
  void lost_in(context& where, packets::peer& whom) noexcept;

  /// The open context of this number, or nullptr.
  [[nodiscard]] context* find(std::uint16_t id) noexcept;
  void enter(std::uint16_t id, context* where);

  // Sending.
  void start_offer(packets::peer& to, request& r) noexcept;
  void write_offer(request& r) noexcept;
  /// The answer to an offer of ours. [reaper]
  void granted(packets::peer& from, const grant& given) noexcept;
  void send_piece(packets::peer& to, request& r, rails::landing_id zone,
                  std::size_t bytes) noexcept;
  void send_to_zone(packets::peer& to, request& r, rails::landing_id zone) noexcept;

  // Receiving.
  void arrived_eager(packets::peer& from, std::span<const std::byte> bytes) noexcept;
  void arrived_offer(packets::peer& from, std::span<const std::byte> bytes) noexcept;
  void keep_early(parked& message) noexcept;
  /// Fills `r`, taken out of the matcher, from a message that waited; frees the message.
  void receive_parked(request& r, parked& message) noexcept;
  void deliver(request& r, int source, int tag, std::span<const std::byte> payload,
               bool given_up) noexcept;
  /// Answers an offer of `bytes` bytes for `r`.
  void accept(packets::peer& from, request& r, const parked& offered) noexcept;
  void open_landing(request& r) noexcept;
  /// Tries `open_landing` again for all that found no zone. The body of `landing_retry`.
  static progress::ltask_result retry_landings(progress::ltask& self) noexcept;
  void send_grant(request& r, std::uint32_t zone) noexcept;
  /// So many bytes more of it are here. [reaper]
  void landed_in(request& r, std::uint64_t bytes) noexcept;
  [[nodiscard]] std::optional<rails::landing_id> open_zone(packets::peer& from,
                                                           request& r) noexcept;
  void expect(request& r, std::size_t bytes) noexcept;
  [[nodiscard]] request* close_zone(packets::peer& from, rails::landing_id zone) noexcept;

  // Ending.
  void now_pending(request& r) noexcept;
  [[gnu::hot]] void complete(request& r) noexcept;
  /// The same for a request that nobody else knows yet: no atomic exchange.
  void complete_at_once(request& r) noexcept;
  void fail(request& r, outcome how) noexcept;
  static void payload_sent(packets::outgoing& item, bool well) noexcept;
  static void offer_sent(packets::outgoing& item, bool well) noexcept;
  static void grant_sent(packets::outgoing& item, bool well) noexcept;
  static void demote(packets::outgoing& item) noexcept;
  [[nodiscard]] static request& owner_of(packets::outgoing& item) noexcept;
  [[nodiscard]] static exchange_parts& parts_of(const request& r) noexcept;

  packets::peers& peers;
  progress::engine& engine;
  const bool coarse;  ///< one lock around each call (HEADWAY_LOCKING)
  const bool offloads = progress::offloading_from_environment() != progress::offloading::inline_;

  static constexpr std::size_t page_entries = 256;
  using page = std::array<std::atomic<context*>, page_entries>;
  std::array<std::atomic<page*>, exchange::context_ids / page_entries> pages{};

  base::spinlock early_lock;  // messages whose context is not open here yet
  base::intrusive_list<parked, arrival_order> early;

  base::id_table<request> sends;
  base::id_table<request> landings;
  base::spinlock waiting_lock;
  base::intrusive_list<request> awaiting;  // matched, no landing zone was free
  struct landing_retry : progress::ltask {
    explicit landing_retry(exchange_parts& of) noexcept
        : ltask("retry landings", &exchange_parts::retry_landings), parts(of) {}
    exchange_parts& parts;
    bool submitted = false;  // under waiting_lock
  } landing_retry_{*this};
};

}  // namespace headway::messages
