#pragma once

#include <cstdint>

namespace headway::progress {

/// What can wake a sleeping thread: a rail's sockets, a shared-memory doorbell.
/// Threads:  `arm` and `disarm` by the one thread that holds the kernel sleeper; they may run
///           beside a poll.
/// Progress: no function waits.
class event_source {
 public:
  /// Becomes readable (epoll, level-triggered) while there is something to do; -1: it cannot wake.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  /// A thread is about to sleep: from now on `descriptor` must become readable when work arrives.
  /// False: work has arrived already, do not sleep.
  [[nodiscard]] virtual bool arm() noexcept = 0;
  /// No thread sleeps any more: wake-ups may stop.
  virtual void disarm() noexcept = 0;
  /// The shortest period at which background polling pays, given what a look costs; 0: any.
  [[nodiscard]] virtual std::uint64_t shortest_poll_period_ns() const noexcept { return 0; }

 protected:
  ~event_source() = default;
};

}  // namespace headway::progress
