#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/id_table.hpp"
#include "base/spinlock.hpp"
#include "packets/bundle/flows.hpp"
#include "packets/bundle/lane_health.hpp"
#include "packets/statistics.hpp"
#include "progress/engine.hpp"
#include "progress/event_source.hpp"

namespace headway::packets {

class bundle;

/// What all bundles of a process share: the section in which they receive, the clock by which they
/// look after their rails, numbers for zones, items for their own packets.
///
/// Threads:  `enter` and `leave` by reapers; what is said to be "in R" between the two. The rest
///           any thread.
/// Progress: `try_enter` never waits. The clock runs only while some bundle is active, and wakes a
///           sleeper through a timer of the kernel.
class bundle_keeper final : public progress::event_source {
 public:
  explicit bundle_keeper(progress::engine& engine);
  ~bundle_keeper();

  void add(bundle& b) { bundles_.push_back(&b); }
  [[nodiscard]] bool any() const noexcept { return !bundles_.empty(); }

  [[nodiscard]] bool try_enter() noexcept { return section_.try_lock(); }
  void leave() noexcept { section_.unlock(); }

  /// Is there something to do for a rail that has reported nothing? Cheap.
  [[nodiscard]] bool due(std::uint64_t now_ns) const noexcept {
    return any_waiting() ||  // hints: looked at in R
           (clocked() && now_ns >= next_look_ns_.load(std::memory_order_relaxed));
  }
  [[nodiscard]] bool any_waiting() const noexcept {
    return waiting_.load(std::memory_order_relaxed) != 0;
  }
  [[nodiscard]] bool clocked() const noexcept {
    return active_.load(std::memory_order_relaxed) != 0 ||
           ticked_.load(std::memory_order_relaxed);  // hints
  }
  /// In R: after a reap of this rail.
  void serve(std::size_t rail_index, std::uint64_t now_ns) noexcept;
  /// Acknowledgements leave at the next reaping.
  void hurry() noexcept { next_look_ns_.store(0, std::memory_order_relaxed); }
  /// About every 100 ms.
  void tick() noexcept { ticked_.store(true, std::memory_order_relaxed); }

  void bundle_active(bool is) noexcept;
  void bundle_waiting(bool is) noexcept {
    waiting_.fetch_add(is ? 1 : -1, std::memory_order_relaxed);
  }

  [[nodiscard]] flow_piece& take_piece();
  void give_back(flow_piece& piece) noexcept;
  [[nodiscard]] control_item& take_control();
  void give_back(control_item& item) noexcept;

  [[nodiscard]] int descriptor() const noexcept override { return timer_; }
  [[nodiscard]] bool arm() noexcept override;
  void disarm() noexcept override;

  base::id_table<inflow::asked, 1> zones;
  statistics counts;
  lane_health::limits health;
  std::atomic<bool> finishing{false};  ///< who leaves is no news any more; a word for R, a hint
  std::uint64_t cut_off_ns = 0;        ///< without any rail for so long a peer has failed

 private:
  static constexpr std::uint64_t look_period_ns = 5'000'000;

  progress::engine& engine_;
  int timer_ = -1;
  bool armed_ = false;
  base::spinlock section_;
  std::vector<bundle*> bundles_;
  std::atomic<int> active_{0};
  std::atomic<int> waiting_{0};
  std::atomic<bool> ticked_{false};
  std::atomic<std::uint64_t> next_look_ns_{0};

  base::spinlock pools_lock_;
  std::vector<std::unique_ptr<flow_piece>> every_piece_;
  std::vector<std::unique_ptr<control_item>> every_control_;
  std::vector<flow_piece*> pieces_;
  std::vector<control_item*> controls_;
};

}  // namespace headway::packets
