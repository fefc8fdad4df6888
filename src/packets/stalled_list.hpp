#pragma once

#include <atomic>
#include <cstddef>

#include "base/intrusive_list.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "progress/core/engine.hpp"

namespace headway::packets {

class scheduler;

/// The schedulers whose only rail takes nothing now. Each is tried again after its rail was reaped.
/// Shape:    while it is not empty, the engine counts something as pending.
/// Threads:  any; `retry` and `resume` by the reaper of the rail.
class stalled_list {
 public:
  /// The fields of the list in a scheduler.
  struct member : base::list_hook<> {
    bool stalled = false;          ///< in the list or being retried; under the list's lock
    std::size_t stalled_rail = 0;  ///< the rail that it waits for; constant
  };

  explicit stalled_list(progress::engine& engine) noexcept : engine_(engine) {}

  /// Under the scheduler's mask. Does nothing if it is already in the list.
  void add(scheduler& whom) noexcept;
  /// Tries all that wait for this rail. True: something has left.
  bool retry(std::size_t rail_index) noexcept;
  /// From `scheduler::resume`: keeps it in the list, or, under its mask, removes it.
  void keep(scheduler& whom) noexcept;
  void remove(scheduler& whom) noexcept;
  void ended() noexcept { engine_.pending_ended(); }
  [[nodiscard]] bool any() const noexcept {
    return count_.load(std::memory_order_relaxed) != 0;  // a hint; the lock guards the list
  }
  /// With no other thread left.
  void clear() noexcept;

 private:
  progress::engine& engine_;
  base::spinlock lock_;
  base::intrusive_list<member> list_ HEADWAY_GUARDED_BY(lock_);
  std::atomic<int> count_{0};
};

}  // namespace headway::packets
