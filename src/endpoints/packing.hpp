#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/clock.hpp"
#include "base/spinlock.hpp"
#include "endpoints/errand.hpp"
#include "progress/ltask.hpp"

namespace headway::endpoints {

struct service_parts;
struct packed_message;

/// Small messages to one process on their way into one packet, where a packet is a system call.
///
/// A message leaves at once unless `run_min` others left just before it, each within `gap_ns` of
/// the last: who sends so sends on, and more than a packet costs goes by until he has a reason to
/// look. What has gathered leaves when the packet is full, before anything else to that process,
/// and with the next polling round of anybody; the event thread makes one within its time if nobody
/// else does.
///
/// Threads:  any.
/// Progress: never waits but for the lock, under which nothing is sent.
/// Source:   the aggregation of multirail08's optimisation layer; the figure of ZeroMQ, whose
///           thread for input and output sends at once what its queue holds.
struct packing final : progress::ltask {
  // Hazard: something else is posted to the process, by a thread that sees no packet open, before
  // the packet that held an earlier message of that thread. Edge: the packet is lined up at the
  // peer, then (K) release -> acquire in `empty`.
  static constexpr std::uint32_t run_min = 8;
  static constexpr std::uint64_t gap_ns = 2'000;

  packing() noexcept
      : ltask("send packed messages", &packing::run, progress::ltask_kind::one_shot) {}

  /// Nothing of this thread's waits here.
  [[nodiscard]] bool empty() const noexcept {
    return open.load(std::memory_order_acquire) == nullptr;  // (K)
  }
  /// Does the message that is about to be sent follow others closely? Under the lock.
  [[nodiscard]] bool in_a_run() noexcept {
    if (base::now_ns() - last_ns.load(std::memory_order_relaxed) > gap_ns) length = 0;
    return length++ >= run_min;
  }
  /// Something was sent just now, or its sender was held back until now. Relaxed: a hint.
  void went() noexcept { last_ns.store(base::now_ns(), std::memory_order_relaxed); }

  static progress::ltask_result run(progress::ltask& self) noexcept;

  service_parts* parts = nullptr;  // constant from `attach` on, like the three below
  std::uint32_t process = 0;
  std::size_t room = 0;       ///< of a packet
  std::size_t bytes_max = 0;  ///< of a message that may be packed; 0 with `pays` false
  bool pays = false;

  base::spinlock lock;                         // guards the next two
  std::atomic<packed_message*> open{nullptr};  // read without it in `empty`
  std::uint32_t length = 0;                    // of the run
  std::atomic<std::uint64_t> last_ns{0};
  basic_errand<> errand;
};

}  // namespace headway::endpoints
