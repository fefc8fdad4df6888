#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::progress {

/// Counts of events in an engine outside its queues; `engine_statistics` documents each one.
/// Threads:  any. Only on slow paths, so each is one addition; relaxed, they carry no data.
struct engine_counters {
  using counter = base::atomic<std::uint64_t>;
  counter sleeps{0}, kernel_sleeps{0}, hand_overs{0}, event_looks{0}, attended_looks{0},
      event_sleeps{0}, quiet_sleeps{0}, parked_sleeps{0}, armings{0}, lifts{0}, idle_rests{0},
      demotions{0}, delays{0}, spare_spells{0}, spare_withdrawals{0};

  static void count(counter& one) noexcept { one.fetch_add(1, std::memory_order_relaxed); }
};

}  // namespace headway::progress
