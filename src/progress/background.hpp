#pragma once

#include <memory>
#include <vector>

#include "progress/engine_core.hpp"
#include "progress/event_thread.hpp"
#include "progress/placement.hpp"
#include "progress/poller.hpp"
#include "progress/spare_poller.hpp"

namespace headway::progress {

/// The threads of an engine's polling points.
/// Threads:  one at a time: the engine's control lock is held.
/// Progress: starting and ending threads takes tens of microseconds each.
class background {
 public:
  explicit background(engine_core& core) : core_(core) {}
  background(const background&) = delete;
  background& operator=(const background&) = delete;

  void turn(polling_point point, bool on);
  [[nodiscard]] bool is_on(polling_point point) const noexcept;
  /// A spare poller beside the event thread, where it could ever pay.
  void lend_spare(bool on);

  /// Idle pollers leave the cores of computing threads that are bound there. About once a second.
  void mind_bound_threads();

 private:
  /// One for each place that HEADWAY_IDLE_LEVEL and HEADWAY_IDLE_PLACES choose.
  void start_idle();

  engine_core& core_;
  bound_threads bound_;
  std::unique_ptr<spare_poller> spare_;
  std::unique_ptr<event_thread> event_;  // ends before the spare poller, which it calls
  std::unique_ptr<poller> timer_;
  std::vector<std::unique_ptr<poller>> idle_;
};

}  // namespace headway::progress
