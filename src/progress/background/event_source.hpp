#pragma once

#include <cstdint>

namespace headway::progress {

/// What is to end a sleep.
enum class wake_for : std::uint8_t {
  all,      ///< everything that arrives
  hurried,  ///< not packets that can wait until the thread that wants them polls (rails::packet)
};

/// Can wake a sleeping thread: a rail's sockets, a shared-memory doorbell.
/// Threads:  `arm` and `disarm` by one thread at a time, possibly while another thread polls.
/// Progress: no function waits.
class event_source {
 public:
  /// Becomes readable (epoll, level-triggered) while there is something to do; -1: it cannot wake.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  /// A thread is about to sleep: from now on `descriptor` must become readable when such work
  /// arrives; it may for other work. False: there is some already, do not sleep.
  [[nodiscard]] virtual bool arm(wake_for what) noexcept = 0;
  /// Whether `descriptor` becomes readable only while the source is armed, and arming it is cheap.
  /// Constant.
  [[nodiscard]] virtual bool silent_unless_armed() const noexcept { return false; }
  /// No thread sleeps any more: wake-ups may be omitted.
  virtual void disarm() noexcept = 0;
  /// The shortest useful period of background polling, given the cost of a poll; 0: any.
  [[nodiscard]] virtual std::uint64_t shortest_poll_period_ns() const noexcept { return 0; }

 protected:
  ~event_source() = default;
};

}  // namespace headway::progress
