#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/lock_guard.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "sampling/departure_clock.hpp"

namespace headway::packets {

/// Predicts when a rail will have sent everything that it was given, for all peers: packets and
/// pieces of large messages. Only for a rail that was measured: a guess predicts no queue.
/// Threads:  any; a short spinlock.
class rail_departures {
 public:
  using mark = sampling::departure_clock::mark;

  /// Sets the measured rate for whole messages sent one after the other. The highest of the rates
  /// to several peers counts: a lower one is limited by the peer.
  void measured(double bytes_per_ns) noexcept {
    const double ns_per_byte = 1 / bytes_per_ns;
    const base::lock_guard guard(lock_);
    if (counts() && ns_per_byte_.load(std::memory_order_relaxed) <= ns_per_byte) return;
    ns_per_byte_.store(ns_per_byte, std::memory_order_relaxed);
  }
  /// Whether the rail was measured.
  [[nodiscard]] bool counts() const noexcept {
    return ns_per_byte_.load(std::memory_order_relaxed) != 0;  // stands alone: carries nothing
  }

  /// The driver has taken so many bytes. Returns their departure; 0 for a rail that is not
  /// measured.
  mark given(std::uint64_t now_ns, std::size_t bytes) noexcept {
    const double each_ns = ns_per_byte_.load(std::memory_order_relaxed);
    if (each_ns == 0) return 0;
    const base::lock_guard guard(lock_);
    return clock_.given(now_ns, each_ns * static_cast<double>(bytes));
  }
  /// Undoes `given`: the driver did not take them.
  void taken_back(std::size_t bytes) noexcept {
    const double each_ns = ns_per_byte_.load(std::memory_order_relaxed);
    const base::lock_guard guard(lock_);
    clock_.taken_back(each_ns * static_cast<double>(bytes));
  }
  /// Everything up to the mark has left, except at most `left_bytes`.
  void gone(std::uint64_t now_ns, mark end, std::size_t left_bytes = 0) noexcept {
    if (end == 0) return;
    const double left_ns =
        ns_per_byte_.load(std::memory_order_relaxed) * static_cast<double>(left_bytes);
    const base::lock_guard guard(lock_);
    clock_.gone(now_ns, end, left_ns);
  }
  /// When a driver reports a packet as sent, at most so many of its bytes are still in the kernel.
  static constexpr std::size_t kernel_bytes = std::size_t{1} << 20;

  [[nodiscard]] double busy_ns(std::uint64_t now_ns) const noexcept {
    if (!counts()) return 0;
    const base::lock_guard guard(lock_);
    return clock_.busy_ns(now_ns);
  }

 private:
  mutable base::spinlock lock_;
  std::atomic<double> ns_per_byte_{0};  // 0: it was not measured
  sampling::departure_clock clock_ HEADWAY_GUARDED_BY(lock_);
};

}  // namespace headway::packets
