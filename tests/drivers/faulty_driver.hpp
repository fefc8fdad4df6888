#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/spinlock.hpp"
#include "rails/health.hpp"
#include "rails/memory.hpp"

namespace headway::rails::faulty {

/// The faults and how often they happen: `one_in` n means once in n times on average, 0 never. The
/// same seed and the same calls give the same faults.
struct plan {
  std::uint64_t seed = 1;
  std::uint32_t retry_one_in = 0;    ///< a `send` is answered by `retry`
  std::uint32_t late_one_in = 0;     ///< a `reap` reports no event
  std::uint32_t late_reaps_max = 8;  ///< … and so do up to so many that follow
  std::uint32_t posted_one_in = 0;   ///< `done` becomes `posted`, with `sent` later
  std::uint32_t kill_one_in = 0;     ///< a `send` kills its peer
  std::uint32_t cut_one_in = 0;      ///< a `send` ends the connection: of a driver with health only
  std::uint32_t mute_one_in = 0;     ///< a `send` makes the rail silent both ways, until it is
                                     ///< severed: of a driver with health only
};

/// Wraps any driver and injects all faults that the contracts allow: late events, many retries,
/// peers that die.
///
/// Every event passes through one queue, so the order of events and of releases stays the inner
/// driver's. A killed peer is `lost`; packets that were posted to it fail as soon as the inner
/// driver no longer reads the payload, and packets that it sends are dropped. From other peers
/// nothing is dropped or doubled: the contract promises every packet whole, once.
///
/// Shape:    at most `held_max` events wait; then the inner driver is not reaped for a while.
/// Threads:  as the contract says.
/// Progress: never waits. A late event is reported within `late_reaps_max` reaps.
/// Errors:   those of the plan, and the inner driver's.
class faulty_driver final : public driver, private memory, private health {
 public:
  static constexpr std::size_t held_max = 256;

  faulty_driver(std::unique_ptr<driver> inner, const plan& p);
  ~faulty_driver() override;
  faulty_driver(const faulty_driver&) = delete;
  faulty_driver& operator=(const faulty_driver&) = delete;

  /// Makes `peer` lost on this rail. [any thread]
  void kill(peer_id peer) noexcept;
  /// Makes the rail silent in both directions, without an event. [any thread]
  void mute(peer_id peer) noexcept;

  [[nodiscard]] limits query() const noexcept override;
  [[nodiscard]] base::result<std::vector<std::byte>> open() override;
  [[nodiscard]] base::result<> connect(peer_id peer, std::span<const std::byte> address) override {
    return inner_->connect(peer, address);
  }
  [[nodiscard]] base::result<> admit(peer_id peer, std::span<const std::byte> address) override {
    return inner_->admit(peer, address);
  }
  [[nodiscard]] post send(peer_id peer, const packet& what) noexcept override;
  [[nodiscard]] std::size_t reap(std::span<event> out) noexcept override;
  void release(const event& received) noexcept override;
  [[nodiscard]] int descriptor() const noexcept override { return watch_; }
  [[nodiscard]] bool arm(bool sleeping) noexcept override;
  [[nodiscard]] bool unsent() const noexcept override { return inner_->unsent(); }
  void reclaim(peer_id peer) noexcept override { inner_->reclaim(peer); }
  void tick(std::uint64_t now_ns) noexcept override { inner_->tick(now_ns); }
  [[nodiscard]] rails::memory* memory() noexcept override {
    return inner_->memory() ? this : nullptr;
  }
  [[nodiscard]] rails::health* health() noexcept override {
    return inner_->health() ? this : nullptr;
  }
  void close() noexcept override;

 private:
  [[nodiscard]] memory_limits limits_to(peer_id peer) const noexcept override;
  [[nodiscard]] copy_costs costs_with(peer_id peer) const noexcept override {
    return inner_->memory()->costs_with(peer);
  }
  [[nodiscard]] base::result<ticket> expose(const exposure& what) noexcept override {
    return inner_->memory()->expose(what);
  }
  void withdraw(const ticket& exposed) noexcept override { inner_->memory()->withdraw(exposed); }
  [[nodiscard]] post put(peer_id peer, const remote_place& to, std::span<const std::byte> from,
                         std::uint64_t cookie) noexcept override;
  [[nodiscard]] post get(peer_id peer, const remote_place& from, std::span<std::byte> to,
                         std::uint64_t cookie) noexcept override;
  [[nodiscard]] post atomic(peer_id peer, const remote_place& at, const atomic_request& what,
                            std::uint64_t& before, std::uint64_t cookie) noexcept override;
  [[nodiscard]] post flush(peer_id peer, std::uint64_t cookie) noexcept override;
  void sever(peer_id peer) noexcept override { inner_->health()->sever(peer); }
  void revive(peer_id peer) noexcept override { inner_->health()->revive(peer); }
  [[nodiscard]] std::uint64_t last_activity_ns(peer_id peer) noexcept override;

  [[nodiscard]] bool is_direct(peer_id peer) noexcept;

  struct offer {
    std::uint64_t cookie = 0;
    bool may_be_posted = false;  ///< `done` may become `posted`
    bool may_be_lost = true;     ///< a mute rail may drop it
  };
  /// Calls the inner driver by `start`, unless a fault is drawn.
  [[nodiscard]] post send_or_fail(peer_id peer, const offer& what,
                                  const std::function<post()>& start) noexcept;
  struct parcel {  ///< a posted packet that has had no event yet
    peer_id peer{};
    std::uint64_t cookie = 0;
    bool taken = false;  ///< the inner driver has its bytes: `sent` is only late
  };

  // Under the lock.
  [[nodiscard]] std::uint32_t draw() noexcept;
  [[nodiscard]] bool happens(std::uint32_t one_in) noexcept;
  [[nodiscard]] bool dead(peer_id peer) const noexcept;
  [[nodiscard]] bool muted(peer_id peer) const noexcept;
  void declare_dead(peer_id peer, std::uint64_t count = 0) noexcept;
  [[nodiscard]] post drop(peer_id peer, const offer& what) noexcept;
  void forget(peer_id peer, std::uint64_t cookie) noexcept;
  void hold(const event& e) noexcept;
  void deliver_late() noexcept;

  void wake() noexcept;
  void take_in() noexcept;
  void release_dropped() noexcept;

  std::unique_ptr<driver> inner_;
  const plan plan_;
  std::string name_;
  int watch_ = -1;  // an epoll set: the inner driver's descriptor and the bell
  int bell_ = -1;

  base::spinlock lock_;  // guards the members below; not held across calls of the inner driver
  std::uint64_t random_;
  std::vector<parcel> parcels_;
  std::vector<peer_id> dead_;
  std::vector<peer_id> muted_;
  std::vector<event> held_;  // oldest first

  // For the reaping thread alone: every `received` event that is not released, in order.
  struct loan {
    event what;
    bool dropped = false;  // not reported: this driver releases it itself
  };
  std::deque<loan> loans_;
  std::uint32_t late_reaps_ = 0;
  bool closed_ = false;  // no event is held back any more

  // Hazard: a thread sleeps while this driver, but not the inner one, has events to report.
  // Edge (S): the thread that adds an event stores `waiting_`, then loads `asleep_`; the sleeper
  // stores `asleep_`, then loads `waiting_`. seq_cst on all four: one of the two sees the other.
  std::atomic<bool> waiting_{false};
  std::atomic<bool> asleep_{false};
};

}  // namespace headway::rails::faulty
