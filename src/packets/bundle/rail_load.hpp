#pragma once

#include <cstdint>

#include "base/lock_guard.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "sampling/rail_clock.hpp"

namespace headway::packets {

/// Predicts when a rail of this process will have brought in all pieces that were requested over
/// it, from all peers.
/// Threads: any; a short spinlock.
class rail_load {
 public:
  void begun(std::uint64_t now_ns, double duration_ns) noexcept {
    const base::lock_guard guard(lock_);
    clock_.begun(now_ns, duration_ns);
  }
  void ended(std::uint64_t now_ns, double duration_ns) noexcept {
    const base::lock_guard guard(lock_);
    clock_.ended(now_ns, duration_ns);
  }
  [[nodiscard]] double busy_ns(std::uint64_t now_ns) const noexcept {
    const base::lock_guard guard(lock_);
    return clock_.busy_ns(now_ns);
  }

 private:
  mutable base::spinlock lock_;
  sampling::rail_clock clock_ HEADWAY_GUARDED_BY(lock_);
};

}  // namespace headway::packets
