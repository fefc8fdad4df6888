#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "base/futex.hpp"

namespace headway::progress {

/// The state that the event thread and the spare poller (spare_poller.hpp) share.
/// Threads:  `call` the event thread; (C) publishes `called` and `called_ns`; the others are
///           relaxed hints. A call that is lost, or that comes when polling no longer pays, leaves
///           the work to the event thread.
/// Progress: never waits; `call` wakes the poller by a system call.
struct spare_call {
  /// futex word: 1 from the call to the end of the poller's spell
  base::atomic<std::uint32_t> called{0};
  base::atomic<std::uint64_t> called_ns{0};
  base::atomic<std::uint64_t> not_before_ns{0};  ///< the poller has withdrawn until then
  base::atomic<bool> exists{false};
  base::atomic<bool> pays{false};
  base::atomic<bool> polls{false};
  base::atomic<std::uint32_t> beats{0};  ///< changes while the poller has its processor

  /// Events come in quick succession: makes the poller take over, if there is one and it pays.
  void call(std::uint64_t now_ns) noexcept {
    if (!pays.load(std::memory_order_relaxed) ||
        now_ns < not_before_ns.load(std::memory_order_relaxed) ||
        called.load(std::memory_order_relaxed) != 0)
      return;
    called_ns.store(now_ns, std::memory_order_relaxed);
    called.store(1, std::memory_order_release);  // (C)
    base::futex_wake(called, 1);
  }
};

}  // namespace headway::progress
