#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/clock.hpp"
#include "base/lock_guard.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "endpoints/delivery/message.hpp"
#include "endpoints/wire/notify_once.hpp"
#include "progress/core/ltask.hpp"

namespace headway::endpoints {

class packet_sender;
struct packed_message;

/// Gathers small messages to one process in one packet, where sending a packet is a system call.
///
/// A message leaves at once unless `run_min` others left just before it, each within `gap_ns` of
/// the one before: after such a run more messages are to be expected, and the receiver cannot
/// answer sooner than a packet takes. A packet leaves when it is full, before anything else to that
/// process, and in the next polling round of any thread; if no thread polls, the event thread does
/// within its period.
///
/// Threads:  any.
/// Progress: waits for nothing but the lock, under which nothing is sent.
/// Source:   the aggregation of multirail08's optimisation layer; ZeroMQ, whose I/O thread sends at
///           once what its queue holds.
class packing final : public progress::ltask {
  // Hazard: a thread that sees no open packet posts something to the process before the packet with
  // an earlier message of that thread. Edge: the packet is lined up at the peer, then (K) release
  // -> acquire in `empty`.
 public:
  static constexpr std::uint32_t run_min = 8;
  static constexpr std::uint64_t gap_ns = 2'000;

  packing() noexcept
      : ltask("send packed messages", &packing::run, progress::ltask_kind::one_shot) {}

  /// Before the first use: packing pays for messages shorter than `bytes_end`, in packets whose
  /// entries take `room` bytes; `always`: also without a burst.
  void start(packet_sender& by, std::uint32_t process, std::size_t room, std::size_t bytes_end,
             bool always) noexcept;
  [[nodiscard]] bool takes(std::size_t bytes) const noexcept { return bytes < bytes_end_; }
  /// Whether no message is gathered here.
  [[nodiscard]] bool empty() const noexcept {
    return open_.load(std::memory_order_acquire) == nullptr;  // (K)
  }
  /// True: the bytes are copied, and will be sent.
  [[nodiscard]] bool add(const sending& what, std::uint32_t charge) noexcept;
  /// Something was sent just now, or its sender was held back until now. Relaxed: a hint.
  void went() noexcept { last_ns_.store(clock_.now_ns(), std::memory_order_relaxed); }
  /// Lines up what has gathered behind all that was posted before, and before all that follows; the
  /// caller then has the peer send it.
  void line_up() noexcept {
    const base::lock_guard guard(lock_);
    line_up_locked();
  }
  /// At the end: sends what has gathered.
  void stop() noexcept;

 private:
  static progress::ltask_result run(progress::ltask& self) noexcept;
  void line_up_locked() noexcept HEADWAY_REQUIRES(lock_);
  void send() noexcept;
  /// Whether the next message follows others closely.
  [[nodiscard]] bool in_a_run() noexcept HEADWAY_REQUIRES(lock_) {
    if (clock_.now_ns() - last_ns_.load(std::memory_order_relaxed) > gap_ns) length_ = 0;
    return length_++ >= run_min;
  }

  // Constant after `start`.
  packet_sender* by_ = nullptr;
  base::clock clock_;
  std::uint32_t process_ = 0;
  bool always_ = false;
  std::size_t room_ = 0;
  std::size_t bytes_end_ = 0;  // 0: packing does not pay

  base::spinlock lock_;
  std::atomic<packed_message*> open_{nullptr};          // changed under the lock
  std::uint32_t length_ HEADWAY_GUARDED_BY(lock_) = 0;  // of the current run, in messages
  std::atomic<std::uint64_t> last_ns_{0};
  basic_notify_once<> notified_;
};

}  // namespace headway::endpoints
