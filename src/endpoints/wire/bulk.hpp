#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/intrusive_list.hpp"
#include "base/lock_guard.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "endpoints/delivery/delivery.hpp"
#include "endpoints/wire/buffer_queue.hpp"
#include "endpoints/wire/packet_sender.hpp"
#include "messages/exchange.hpp"

namespace headway::endpoints {

struct bulk_send;
struct bulk_receive;

/// The transfers under way: the service ends when none is left.
/// Threads:  any.
template <class Transfer>
class transfer_list {
 public:
  void add(Transfer& one) noexcept {
    const base::lock_guard guard(lock_);
    all_.push_back(one);
  }
  void remove(Transfer& one) noexcept {
    const base::lock_guard guard(lock_);
    all_.erase(one);
  }
  /// When no other thread uses the list. `last(transfer)` comes before the end of each.
  template <class Last>
  void delete_all(Last last) noexcept HEADWAY_NO_THREAD_SAFETY_ANALYSIS {
    while (Transfer* one = all_.front()) {
      last(*one);
      delete one;
    }
  }

 private:
  base::spinlock lock_;
  base::intrusive_list<Transfer, transfer_list> all_ HEADWAY_GUARDED_BY(lock_);
};

/// Messages too large for a packet, to processes that do not share memory with this one. Each is
/// announced to its end-point. Then `messages` sends it by a rendezvous, or its bytes go at once
/// into a zone that the receiver has preposted (preposted_zones).
///
/// Shape:    at most `zones_count_max` zones are preposted, for all processes together, and a limit
///           of bytes.
/// Threads:  `arrived_announcement` and `arrived_zone` by the reaper; the rest any thread.
/// Progress: never waits.
class bulk_transfers {
  // Hazards, and the edge that removes each:
  //   a transfer uses a half-made exchange or context              (X) release -> acquire
  //   the thread that takes `zone_due_` does not see the wish      (D) release -> (E) acquire, in
  //                                                                both of its exchanges
 public:
  bulk_transfers(pool& buffers, packet_sender& out, delivery& here, buffer_queue& waiting,
                 remote_processes& remotes, const settings& chosen) noexcept
      : buffers_(buffers),
        out_(out),
        here_(here),
        waiting_(waiting),
        remotes_(remotes),
        zone_bytes_max_(chosen.ahead_bytes),
        zones_bytes_max_(static_cast<std::int64_t>(chosen.memory_bytes / 16)) {}
  /// When neither rails nor the exchange exist any more.
  ~bulk_transfers();
  bulk_transfers(const bulk_transfers&) = delete;
  bulk_transfers& operator=(const bulk_transfers&) = delete;

  /// From now on transfers use `exchange`, until `detach`. `self`: this process's rank.
  void attach(messages::exchange& exchange, std::uint32_t self);
  /// Preposts no zone any more. Before `detach`.
  void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }  // a fact
  /// Withdraws all zones; the exchange is not used any more.
  void detach();
  /// Whether buffers of messages are still being read.
  [[nodiscard]] bool has_sends() const noexcept {
    return sends_.load(std::memory_order_relaxed) > 0;  // a number
  }

  [[nodiscard]] outcome send(const sending& what, const pool::found& f,
                             std::uint32_t charge) noexcept;
  void arrived_announcement(std::uint32_t from, std::span<const std::byte> bytes) noexcept;
  /// `from` has preposted a zone for this process.
  void arrived_zone(std::uint32_t from, std::span<const std::byte> bytes) noexcept;
  /// Preposts the zone that is due, if there is one: when a program waits for the next message.
  void prepost_if_due() noexcept {
    if (zone_due_.load(std::memory_order_relaxed) != nobody) [[unlikely]]  // a hint
      prepost_due_zone();
  }

 private:
  friend bulk_send;  // the two kinds of requests report their ends
  friend bulk_receive;
  static constexpr std::uint32_t nobody = UINT32_MAX;
  static constexpr int zones_count_max = 64;

  void arrived_in_zone(messages::exchange& way, bulk_receive& r, const bulk_head& head) noexcept;
  void announce(bulk_receive& r, const bulk_head& head, block* contents) noexcept;
  void receive(bulk_receive& r, block* target) noexcept;
  void receive_ended(bulk_receive& r) noexcept;
  void want_zone(std::uint32_t for_process, std::uint64_t bytes) noexcept;
  [[gnu::noinline]] void prepost_due_zone() noexcept;
  void prepost_zone(std::uint32_t for_process) noexcept;
  void withdraw_zone(messages::exchange& way, std::uint32_t zone) noexcept;
  void free_zone(bulk_receive* r) noexcept;
  void count_zone(const block& target, int by) noexcept;

  pool& buffers_;
  packet_sender& out_;
  delivery& here_;
  buffer_queue& waiting_;
  remote_processes& remotes_;
  std::atomic<messages::exchange*> exchange_{nullptr};
  std::atomic<messages::context*> context_{nullptr};  // carried by (X)
  std::atomic<std::uint32_t> transfers_{0};           // relaxed: unique, no more
  std::atomic<std::int64_t> sends_{0};                // relaxed: a number
  std::atomic<bool> stopped_{false};                  // relaxed: a fact
  transfer_list<bulk_send> sends_under_way_;
  transfer_list<bulk_receive> receives_under_way_;

  /// The process for which a zone is to be preposted soon.
  std::atomic<std::uint32_t> zone_due_{nobody};
  const std::uint64_t zone_bytes_max_;
  const std::int64_t zones_bytes_max_;
  std::atomic<int> zones_count_{0};           // relaxed: numbers
  std::atomic<std::int64_t> zones_bytes_{0};  // likewise
};

}  // namespace headway::endpoints
