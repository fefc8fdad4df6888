#pragma once

#include <atomic>
#include <cstdint>

#include "base/assert.hpp"

namespace headway::packets {

/// Flow control of eager messages with one peer: the bytes that this process may have stored there,
/// and those of the peer that are stored here.
///
/// Shape:    counts of all bytes so far, modulo 2^32; only differences of two counts are used.
/// Threads:  `fits`, `ample` and `spend` under the scheduler's mask; `consumed` and `returned` by
///           the reaper; the rest any thread. The counts do not depend on each other: relaxed, they
///           carry no data.
/// Source:   credit-based flow control; thread09 (eager memory bounded per peer).
class credit_account {
 public:
  void open(std::uint32_t limit_bytes) noexcept {
    HEADWAY_ASSERT(limit_ == 0 && limit_bytes > 0);
    limit_ = limit_bytes;
  }
  [[nodiscard]] std::uint32_t limit() const noexcept { return limit_; }

  // Our bytes at the peer:
  /// Whether so many bytes more may be stored there, after another `more`.
  [[nodiscard]] bool fits(std::uint32_t charge, std::uint32_t more = 0) const noexcept {
    return charge == 0 ||
           spent_ + more - returned_.load(std::memory_order_relaxed) + charge <= limit_;
  }
  /// Whether at least half of them may still be stored there: the peer need not return any yet.
  [[nodiscard]] bool ample() const noexcept {
    return spent_ - returned_.load(std::memory_order_relaxed) <= limit_ / 2;
  }
  void spend(std::uint32_t charge) noexcept { spent_ += charge; }
  /// Takes the peer's count of our bytes that are no longer stored there.
  void returned(std::uint32_t total) noexcept { returned_.store(total, std::memory_order_relaxed); }

  // The peer's bytes here:
  void consumed(std::uint32_t bytes) noexcept {
    consumed_.store(consumed_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
  /// The same from any thread.
  void consumed_late(std::uint32_t bytes) noexcept {
    consumed_late_.fetch_add(bytes, std::memory_order_relaxed);
  }
  /// `to_tell`: the count to put into the next packet; `told`: it was sent.
  [[nodiscard]] std::uint32_t to_tell() const noexcept {
    return consumed_.load(std::memory_order_relaxed) +
           consumed_late_.load(std::memory_order_relaxed);
  }
  void told(std::uint32_t total) noexcept { told_.store(total, std::memory_order_relaxed); }
  /// Whether the unreported part is so large that it needs a packet of its own. An outdated `told_`
  /// causes at most one packet too many.
  [[nodiscard]] bool return_due() const noexcept {
    return to_tell() - told_.load(std::memory_order_relaxed) > limit_ / 2;
  }

 private:
  std::uint32_t limit_ = 0;  // constant once the peer is known to other threads
  std::uint32_t spent_ = 0;
  std::atomic<std::uint32_t> told_{0};
  std::atomic<std::uint32_t> returned_{0};
  alignas(64) std::atomic<std::uint32_t> consumed_{0};
  std::atomic<std::uint32_t> consumed_late_{0};
};

}  // namespace headway::packets
