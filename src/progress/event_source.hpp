#pragma once

#include <cstdint>

namespace headway::progress {

/// Something a sleeping thread can be woken by: a rail's sockets, a shared-memory doorbell.
/// Threads:  `arm` and `disarm` by the one thread that holds the guard; they may run beside a poll.
/// Progress: never wait.
class event_source {
 public:
  /// Becomes readable (epoll, level-triggered) while there is something to do; -1: it cannot wake.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  /// Somebody is about to sleep: from now on `descriptor` must become readable when work arrives.
  /// False: work has arrived already, do not sleep.
  [[nodiscard]] virtual bool arm() noexcept = 0;
  /// Nobody sleeps any more: wake-ups may stop.
  virtual void disarm() noexcept = 0;
  /// A look at it costs so much that background polling more often does not pay. 0: any period.
  [[nodiscard]] virtual std::uint64_t shortest_poll_period_ns() const noexcept { return 0; }

 protected:
  ~event_source() = default;
};

}  // namespace headway::progress
