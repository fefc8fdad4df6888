#pragma once

#include <cstdint>

namespace headway::progress {

/// Can wake a sleeping thread: a rail's sockets, a shared-memory doorbell.
/// Threads:  `arm` and `disarm` by the one thread that holds the kernel sleeper, possibly while
///           another thread polls.
/// Progress: no function waits.
class event_source {
 public:
  /// Becomes readable (epoll, level-triggered) while there is something to do; -1: it cannot wake.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  /// A thread is about to sleep: from now on `descriptor` must become readable when work arrives.
  /// False: work has arrived already, do not sleep.
  [[nodiscard]] virtual bool arm() noexcept = 0;
  /// No thread sleeps any more: wake-ups may be omitted.
  virtual void disarm() noexcept = 0;
  /// The shortest useful period of background polling, given the cost of a poll; 0: any.
  [[nodiscard]] virtual std::uint64_t shortest_poll_period_ns() const noexcept { return 0; }

 protected:
  ~event_source() = default;
};

}  // namespace headway::progress
