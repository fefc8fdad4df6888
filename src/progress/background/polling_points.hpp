#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/atomic.hpp"
#include "base/mutex.hpp"
#include "progress/background/event_thread.hpp"
#include "progress/background/poller.hpp"
#include "progress/background/spare_poller.hpp"
#include "progress/core/engine_core.hpp"
#include "progress/core/settings.hpp"
#include "progress/os/placement.hpp"

namespace headway::progress {

/// One background polling point, which can be turned on and off.
enum class polling_point : std::uint8_t { event, timer, idle };

/// The threads that poll in the background: those that an engine starts, and those that the program
/// lends to it.
/// Threads:  every function any thread, but none inside an ltask or a tick, unless stated.
/// Progress: starting and ending threads takes tens of microseconds each, under a mutex.
class polling_points {
 public:
  explicit polling_points(engine_core& core) : core_(core) {}
  polling_points(const polling_points&) = delete;
  polling_points& operator=(const polling_points&) = delete;

  /// From now on exactly these.
  void choose(polling points);
  /// Turns one of them on or off, regardless of `choose`.
  void turn(polling_point point, bool on);
  [[nodiscard]] bool is_on(polling_point point) const;
  /// Ends every thread.
  void stop();

  /// Lends the calling thread: it polls for all threads, and sleeps while nothing is pending, until
  /// `end_lending` with the same word, or `deadline_ns`. The word is 0 at first.
  void lend(base::atomic<std::uint32_t>& give_back, std::uint64_t deadline_ns) noexcept;
  void end_lending(base::atomic<std::uint32_t>& give_back) noexcept;

  /// Idle pollers leave the cores to which computing threads are bound. Called in a tick; does
  /// nothing while the threads are being changed. About 5 us for each thread of the process.
  void avoid_bound_threads_if_free();

 private:
  void turn_locked(polling_point point, bool on) HEADWAY_REQUIRES(control_);
  [[nodiscard]] bool is_on_locked(polling_point point) const noexcept HEADWAY_REQUIRES(control_);
  void start_idle() HEADWAY_REQUIRES(control_);
  void turn_spare(bool on) HEADWAY_REQUIRES(control_);
  void avoid_bound_threads() HEADWAY_REQUIRES(control_);

  engine_core& core_;
  mutable base::mutex control_;
  bound_threads bound_ HEADWAY_GUARDED_BY(control_);
  std::unique_ptr<spare_poller> spare_ HEADWAY_GUARDED_BY(control_);
  // Destroyed before the spare poller, which it calls.
  std::unique_ptr<event_thread> event_ HEADWAY_GUARDED_BY(control_);
  std::unique_ptr<poller> timer_ HEADWAY_GUARDED_BY(control_);
  std::vector<std::unique_ptr<poller>> idle_ HEADWAY_GUARDED_BY(control_);
};

}  // namespace headway::progress
