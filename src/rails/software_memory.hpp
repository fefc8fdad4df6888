#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "rails/driver.hpp"
#include "rails/exposures.hpp"
#include "rails/last_events.hpp"
#include "rails/memory.hpp"
#include "rails/memory_calls.hpp"
#include "rails/peer_map.hpp"

namespace headway::rails {

/// Implements the second contract for a driver that has only packets: puts, gets and atomics are
/// packets, which the target's `reap` serves. All processes of a rail use it, or none.
///
/// Shape:    a word in front of each packet's header, so that headers are 8 bytes shorter than the
///           driver's. At most `puts_max` puts that the rail does not take at once are queued; at
///           most memory_calls::calls_max requests of a peer are served at a time.
/// Threads:  as the contracts say; calls of the driver's `send` are made under one lock.
/// Progress: as the driver's. Each byte of a put is copied once more at the target.
/// Errors:   a malformed packet is dropped, with a line in the log.
class software_memory final : public driver, private memory {
 public:
  /// `clock`: that of `tick`.
  explicit software_memory(std::unique_ptr<driver> packets, base::clock clock = {}) noexcept
      : inner_(std::move(packets)), clock_(clock) {}
  ~software_memory() override { close(); }
  software_memory(const software_memory&) = delete;
  software_memory& operator=(const software_memory&) = delete;

  [[nodiscard]] limits query() const noexcept override { return less_header(inner_->query()); }
  [[nodiscard]] limits packet_limits_to(peer_id peer) const noexcept override {
    return less_header(inner_->packet_limits_to(peer));
  }
  [[nodiscard]] base::result<std::vector<std::byte>> open() override { return inner_->open(); }
  [[nodiscard]] base::result<> connect(peer_id peer, std::span<const std::byte> address) override;
  [[nodiscard]] base::result<> admit(peer_id peer, std::span<const std::byte> address) override {
    return inner_->admit(peer, address);
  }
  [[nodiscard]] post send(peer_id peer, const packet& what) noexcept override;
  [[nodiscard]] std::size_t reap(std::span<event> out) noexcept override;
  void release(const event& received) noexcept override;
  [[nodiscard]] int descriptor() const noexcept override { return inner_->descriptor(); }
  [[nodiscard]] bool arm(bool sleeping) noexcept override;
  [[nodiscard]] bool unsent() const noexcept override { return inner_->unsent(); }
  void reclaim(peer_id peer) noexcept override { inner_->reclaim(peer); }
  void tick(std::uint64_t now_ns) noexcept override { inner_->tick(now_ns); }
  [[nodiscard]] rails::memory* memory() noexcept override { return this; }
  [[nodiscard]] rails::health* health() noexcept override { return inner_->health(); }
  [[nodiscard]] shm_slots* slots() noexcept override { return inner_->slots(); }
  void close() noexcept override;

 private:
  static constexpr std::size_t puts_max = 64;
  static constexpr std::size_t events_max = 16;
  // of a packet, even if the driver allows more
  static constexpr std::size_t header_bytes_max = 256;
  static constexpr std::size_t piece_bytes_max = 8192;

  /// Kinds of packets; the first word of each.
  enum class kind : std::uint64_t { packet, put, get, atomic, refusal };
  /// The head of a packet that does not come from the user.
  struct head {
    kind what = kind::put;
    std::uint64_t id = 0;  ///< of the target's exposure; of a refusal, the `answer` of the request
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;   ///< of a get
    std::uint64_t answer = 0;  ///< where the reply is put: an exposure of the requesting process
    atomic_request change = {};
  };
  static_assert(sizeof(head) == 64, "every driver takes a header of so many bytes");

  [[nodiscard]] static limits less_header(limits what) noexcept;

  struct waiting_put {
    peer_id peer{};
    remote_place to;
    std::span<const std::byte> left;
    std::uint64_t cookie = 0;
  };
  struct request {
    peer_id from{};
    head what;
    std::uint64_t answered = 0;  // bytes, of a get
    std::uint64_t before = 0;    // the result of an atomic, once it has `changed` the word
    bool changed = false;
  };
  struct held_event {
    event received;
    bool over = false;  // it was not the user's, or the user has released it
  };

  // memory
  [[nodiscard]] memory_limits limits_to(peer_id peer) const noexcept override;
  [[nodiscard]] base::result<ticket> expose(const exposure& what) noexcept override {
    return exposed_.expose(what);
  }
  void withdraw(const ticket& exposed) noexcept override { exposed_.remove(exposed.id); }
  [[nodiscard]] post put(peer_id peer, const remote_place& to, std::span<const std::byte> from,
                         std::uint64_t cookie) noexcept override;
  [[nodiscard]] post get(peer_id peer, const remote_place& from, std::span<std::byte> to,
                         std::uint64_t cookie) noexcept override;
  [[nodiscard]] post atomic(peer_id peer, const remote_place& at, const atomic_request& what,
                            std::uint64_t& before, std::uint64_t cookie) noexcept override;
  [[nodiscard]] post flush(peer_id peer, std::uint64_t cookie) noexcept override;

  [[nodiscard]] bool knows(peer_id peer) const noexcept { return known_.find(peer) != nullptr; }
  [[nodiscard]] std::size_t piece_bytes() const noexcept;
  [[nodiscard]] post send_own(peer_id peer, const head& what,
                              std::span<const std::byte> payload = {}) noexcept;
  [[nodiscard]] post ask(peer_id peer, const remote_place& at, head what, std::span<std::byte> to,
                         std::uint64_t cookie) noexcept;
  /// Sends pieces of it as long as the rail accepts them. `done`: all of it.
  [[nodiscard]] post send_pieces(waiting_put& p) noexcept;

  // For the reaper:
  void step(std::size_t events) noexcept;
  void take(const event& e) noexcept;
  void take_packet(const event& e) noexcept;
  [[nodiscard]] bool serve(peer_id from, const head& what,
                           std::span<const std::byte> payload) noexcept;
  void take_put(peer_id from, const head& what, std::span<const std::byte> bytes) noexcept;
  [[nodiscard]] post answer(request& r) noexcept;
  void answer_some() noexcept;
  void advance_puts() noexcept;
  void lose(peer_id peer) noexcept;
  void report_end(peer_id peer, event_kind how, std::optional<std::uint64_t> cookie) noexcept;

  std::unique_ptr<driver> inner_;
  const base::clock clock_;
  struct known_peer {
    explicit known_peer(peer_id number) noexcept : id(number) {}
    const peer_id id;
  };
  peer_map<known_peer> known_;  // those for which `connect` was called
  exposures exposed_;
  memory_calls calls_;
  std::atomic<bool> closed_{false};  // written only by `close`
  std::atomic<bool> busy_{false};    // `reap` has more to do immediately; written by it, for `arm`

  base::spinlock sending_;  // held in calls of the driver's `send`
  base::spinlock lock_;
  // A list: its entries are made and freed without the lock.
  std::list<waiting_put> puts_ HEADWAY_GUARDED_BY(lock_);

  // For the reaper:
  std::list<waiting_put> advancing_;
  std::deque<request> requests_;
  std::deque<event> ready_;
  std::deque<held_event> held_;
  std::array<std::byte, piece_bytes_max> piece_;  // of a reply
  last_events last_;                              // for `reap` after `close`
};

}  // namespace headway::rails
