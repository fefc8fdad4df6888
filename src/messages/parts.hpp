#pragma once

#include <array>
#include <atomic>

#include "base/copy_between_cores.hpp"
#include "base/copy_small.hpp"
#include "base/lock_guard.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "messages/context.hpp"
#include "messages/exchange.hpp"
#include "messages/failing_operations.hpp"
#include "messages/source_watch.hpp"
#include "messages/wire.hpp"
#include "packets/peers.hpp"

namespace headway::messages {

constexpr const char* no_memory_to_keep =
    "no memory to keep a message that no receive waits for "
    "(HEADWAY_EAGER_MEMORY bounds what such messages take)";

/// The implementation of `exchange`: arriving packets (arrivals.cpp) and large messages
/// (rendezvous.cpp).
/// Threads:  `arrived` and `lost` by the reaper; the rest any thread.
/// Locks:    early_lock, then context::lock; `complete` is called under neither.
struct exchange_parts final : packets::receiver {
  exchange_parts(packets::peers& all, progress::engine& own)
      : peers(all), engine(own), coarse(own.chosen().locks == progress::locking::coarse) {}
  ~exchange_parts();

  [[gnu::hot]] void arrived(packets::peer& from,
                            std::span<const std::byte> bytes) noexcept override;
  // An eager message in parts.
  packets::packet_in_parts begun(packets::peer& from, std::span<const std::byte> bytes,
                                 std::size_t following) noexcept override;
  void continued(packets::peer& from, const packets::packet_in_parts& what,
                 std::span<const std::byte> bytes, std::size_t following) noexcept override;
  void broken_off(const packets::packet_in_parts& what) noexcept override;
  /// Copies to the receive's memory what of these bytes has room there.
  static void copy_part(request& r, std::size_t at, std::span<const std::byte> part) noexcept;
  void lost(packets::peer& peer) noexcept override;
  void lost_in(context& where, packets::peer& peer) noexcept;

  /// The open context with this number, or nullptr.
  [[nodiscard]] context* find(std::uint16_t id) noexcept;
  /// Records a context, with the messages that arrived for it before; null: the number is free.
  void enter(std::uint16_t id, context* where);

  // Sending.
  void start_rts(packets::peer& to, request& r) noexcept;
  void begin_send(request& r) noexcept;
  /// `given_up`: of the envelope that it replaces.
  void write_rts(request& r, const packets::announced& as, std::uint8_t given_up) noexcept;

  // Receiving.
  /// The rest of `arrived`, for packets that are no eager message.
  [[gnu::noinline]] void arrived_other(wire_kind kind, packets::peer& from,
                                       std::span<const std::byte> bytes) noexcept;
  void arrived_eager(packets::peer& from, std::span<const std::byte> bytes) noexcept;
  /// The rest of `arrived_eager`, for a message that no receive waits for.
  [[gnu::noinline]] void keep_eager(packets::peer& from, context* where, const envelope& head,
                                    std::span<const std::byte> payload) noexcept;
  void arrived_rts(packets::peer& from, std::span<const std::byte> bytes) noexcept;
  /// Removes the first posted receive that the message matches. Null: there is none, or `where` is
  /// null.
  static request* take_posted(context* where, const envelope& match) noexcept {
    if (!where) return nullptr;
    const base::lock_guard guard(where->lock);
    request* r = where->waiting.take_posted(static_cast<int>(match.source), match.tag);
    if (r) where->taken(*r);
    return r;
  }
  /// The rest of `exchange::receive`, for a receive that does not have to wait: `message` is there,
  /// or, if it is null, no message will come. Releases the lock.
  [[gnu::noinline]] void receive_at_once(context& where, request& r,
                                         unexpected_message* message) noexcept
      HEADWAY_RELEASE(where.lock);
  void keep_early(unexpected_message& message) noexcept;
  /// Gives the message to its receive, or keeps it until that is posted.
  void match(context& where, unexpected_message& message) noexcept;
  /// Completes `r`, which is no longer posted, with an unexpected message; frees the message.
  void receive_unexpected(request& r, unexpected_message& message) noexcept;
  [[gnu::always_inline]] void deliver(request& r, int source, int tag,
                                      std::span<const std::byte> payload, bool given_up) noexcept {
    // Scattered memory has no `memory`, so that a message that fills a block needs no other test.
    if (payload.size() != r.memory.size()) [[unlikely]]
      return deliver_otherwise(r, source, tag, payload, given_up);
    if (payload.size() <= base::small_bytes_max)
      base::copy_small(r.memory.data(), payload.data(), payload.size());
    else base::copy_from_writer(r.memory.data(), payload.data(), payload.size());
    r.arrived = {.source = source,
                 .tag = tag,
                 .bytes = payload.size(),
                 .how = given_up ? outcome::peer_lost : outcome::ok};
    complete(r);
  }
  /// The rest of `deliver`, for a message that does not fill `r.memory`, or is scattered there.
  [[gnu::noinline]] void deliver_otherwise(request& r, int source, int tag,
                                           std::span<const std::byte> payload,
                                           bool given_up) noexcept;
  /// Fetches for `r` what a request to send has announced.
  void accept(packets::peer& from, request& r, const rts& announced) noexcept;
  void begin_receive(request& r) noexcept;

  /// For a message to `r` that is to be of the length that is due in a collective operation.
  void check_length(const request& r, int tag, std::size_t bytes) noexcept {
    if (bytes != r.room()) [[unlikely]]
      failing.wrong_length(r, tag);
  }

  // Ending.
  void now_pending(request& r) noexcept;  // counts it, unless it is counted
  [[gnu::always_inline]] void complete(request& r) noexcept {
    const bool counted = r.counted_;
    r.counted_ = false;
    if (!r.finish || r.finish(r)) static_cast<progress::completion&>(r).complete();
    // `r` may be gone.
    if (counted) engine.pending_ended();
  }
  /// The same for a request that no other thread knows yet: no atomic exchange.
  void complete_at_once(request& r) noexcept;
  void fail(request& r, outcome how) noexcept;
  void end(request& r, bool well) noexcept {
    if (well) return complete(r);
    fail(r, outcome::peer_lost);
  }
  static void payload_sent(packets::send_item& item, bool well) noexcept;
  static void send_ended(packets::transfer& t, bool well) noexcept;
  static void receive_ended(packets::transfer& t, bool well) noexcept;
  static void fall_back_to_rts(packets::send_item& item) noexcept;
  [[nodiscard]] static request& owner_of(packets::transfer& t) noexcept {
    return static_cast<request&>(t);
  }
  [[nodiscard]] static exchange_parts& parts_of(const request& r) noexcept;

  packets::peers& peers;
  progress::engine& engine;
  const bool coarse;  ///< one lock around each call (HEADWAY_LOCKING)
  /// `exchange::keep_times` was called. Relaxed: carries nothing else.
  std::atomic<bool> keeps_times{false};
  const bool offloads = engine.chosen().offload != progress::offloading::inline_;

  static constexpr std::size_t page_entries = 256;
  using page = std::array<std::atomic<context*>, page_entries>;
  std::array<std::atomic<page*>, contexts_max / page_entries> pages{};

  base::spinlock early_lock;
  /// Messages whose context is not open here yet.
  base::intrusive_list<unexpected_message> early HEADWAY_GUARDED_BY(early_lock);

  failing_operations failing{*this};
  source_watch sources_{*this};
};

/// Holds the one lock of HEADWAY_LOCKING=coarse during a call; otherwise nothing.
class coarse_lock {
 public:
  explicit coarse_lock(const exchange_parts& parts) noexcept
      : engine_(parts.coarse ? &parts.engine : nullptr) {
    if (engine_) [[unlikely]]
      engine_->enter();
  }
  ~coarse_lock() {
    if (engine_) [[unlikely]]
      engine_->leave();
  }
  coarse_lock(const coarse_lock&) = delete;
  coarse_lock& operator=(const coarse_lock&) = delete;

 private:
  progress::engine* const engine_;
};

}  // namespace headway::messages
