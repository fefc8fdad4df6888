#pragma once

#include <atomic>
#include <cstdint>

namespace headway::packets {

/// Flow control of eager messages with one peer: the bytes that we may have stored there, and those
/// of the peer that are stored here.
///
/// Shape:    counts modulo 2^32, of all bytes so far; the difference of two is what is meant.
/// Threads:  `fits` and `spend` under the scheduler's mask; `consumed` and `returned` by the
///           reaper; the rest any thread. Every count stands alone: relaxed, they carry nothing.
/// Source:   credit-based flow control; thread09 (eager memory bounded per peer).
class credit_account {
 public:
  void open(std::uint32_t limit_bytes) noexcept { limit_ = limit_bytes; }
  [[nodiscard]] std::uint32_t limit() const noexcept { return limit_; }

  // What we have stored at the peer:
  /// So much more may be stored there; `more` is about to be besides.
  [[nodiscard]] bool fits(std::uint32_t charge, std::uint32_t more = 0) const noexcept {
    return charge == 0 ||
           spent_ + more - returned_.load(std::memory_order_relaxed) + charge <= limit_;
  }
  void spend(std::uint32_t charge) noexcept { spent_ += charge; }
  /// The peer says how much of it is stored no longer.
  void returned(std::uint32_t total) noexcept { returned_.store(total, std::memory_order_relaxed); }

  // What the peer has stored here:
  void consumed(std::uint32_t bytes) noexcept {
    consumed_.store(consumed_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
  /// The same from any thread.
  void consumed_late(std::uint32_t bytes) noexcept {
    consumed_late_.fetch_add(bytes, std::memory_order_relaxed);
  }
  /// What is to be told to the peer with the next packet; then that it was.
  [[nodiscard]] std::uint32_t to_tell() const noexcept {
    return consumed_.load(std::memory_order_relaxed) +
           consumed_late_.load(std::memory_order_relaxed);
  }
  void told(std::uint32_t total) noexcept { told_.store(total, std::memory_order_relaxed); }
  /// So much was not told that a packet of its own is due. An old `told_` only makes it due once
  /// too often.
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
