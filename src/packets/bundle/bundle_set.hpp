#pragma once

#include <atomic>
#include <cstdint>

#include "base/spinlock.hpp"
#include "packets/bundle/item_pool.hpp"
#include "packets/bundle/lane_health.hpp"
#include "packets/statistics.hpp"
#include "packets/transfer/flows.hpp"
#include "progress/background/event_source.hpp"
#include "progress/core/engine.hpp"

namespace headway::packets {

class bundle;

/// What all bundles of a process share: the section R in which they receive, the clock that
/// triggers the checks of their rails, and the pool of items for their control packets.
///
/// Threads:  `try_enter` and `leave` by reapers: what happens between the two is "in R". The rest
///           any thread.
/// Progress: `try_enter` never waits. The clock runs only while some bundle is active, and wakes a
///           sleeper through a timer of the kernel.
class bundle_set final : public progress::event_source {
 public:
  bundle_set(progress::engine& engine, rendezvous& large_messages, std::uint64_t cut_off_ns);
  ~bundle_set();

  /// By one thread at a time; `each` may run meanwhile.
  void add(bundle& b) noexcept;
  [[nodiscard]] bool any() const noexcept {
    return newest_.load(std::memory_order_acquire) != nullptr;  // (N)
  }
  template <class Visit>
  void each(Visit visit) const {
    for (bundle* b = newest_.load(std::memory_order_acquire); b; b = older(*b)) visit(*b);  // (N)
  }

  [[nodiscard]] bool try_enter() noexcept HEADWAY_TRY_ACQUIRE(true, section_) {
    return section_.try_lock();
  }
  void leave() noexcept HEADWAY_RELEASE(section_) { section_.unlock(); }

  /// Whether there is work for a rail that has reported no event. Cheap.
  [[nodiscard]] bool due(std::uint64_t now_ns) const noexcept {
    return any_waiting() ||  // hints: read again in R
           (clocked() && now_ns >= next_look_ns_.load(std::memory_order_relaxed));
  }
  [[nodiscard]] bool any_waiting() const noexcept {
    return waiting_.load(std::memory_order_relaxed) != 0;
  }
  [[nodiscard]] bool clocked() const noexcept {
    return active_.load(std::memory_order_relaxed) != 0 ||
           ticked_.load(std::memory_order_relaxed);  // hints
  }
  /// [R] After a reap of this rail.
  void serve(std::size_t rail_index, std::uint64_t now_ns) noexcept;
  /// Makes acknowledgements leave at the next reap.
  void hurry() noexcept { next_look_ns_.store(0, std::memory_order_relaxed); }
  /// At the engine's ticks.
  void tick() noexcept { ticked_.store(true, std::memory_order_relaxed); }

  void bundle_active(bool is) noexcept;
  void bundle_waiting(bool is) noexcept {
    waiting_.fetch_add(is ? 1 : -1, std::memory_order_relaxed);
  }

  [[nodiscard]] int descriptor() const noexcept override { return timer_; }
  [[nodiscard]] bool arm(progress::wake_for what) noexcept override;
  void disarm() noexcept override;

  rendezvous& large;
  item_pool<flow_piece> pieces;
  item_pool<control_item> controls;
  statistics counts;
  lane_health::limits health;
  /// shutdown: losses of peers are expected, so not warned of; a hint for R
  std::atomic<bool> finishing{false};
  const std::uint64_t cut_off_ns;  ///< a peer without any rail for longer than this has failed

 private:
  [[nodiscard]] static bundle* older(const bundle& b) noexcept;
  static constexpr std::uint64_t look_period_ns = 5'000'000;

  progress::engine& engine_;
  int timer_ = -1;
  bool armed_ = false;
  base::spinlock section_;
  // (N): release in `add` -> acquire in `each`: the bundle is seen as constructed.
  std::atomic<bundle*> newest_{nullptr};
  std::atomic<int> active_{0};
  std::atomic<int> waiting_{0};
  std::atomic<bool> ticked_{false};
  std::atomic<std::uint64_t> next_look_ns_{0};
};

}  // namespace headway::packets
