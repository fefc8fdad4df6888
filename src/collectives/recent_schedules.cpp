#include "collectives/recent_schedules.hpp"

#include "base/assert.hpp"

namespace headway::collectives {

recent_schedules::lease recent_schedules::take(const call_key& key) {
  slot& s = slot_of(key);
  if (s.leased.load(std::memory_order_acquire)) return {};  // (T)
  const bool built = s.steps && s.key == key && s.epoch == epoch_;
  if (!built) {
    if (s.steps) s.steps->recycle();
    else s.steps = new_schedule();
    s.key = key;
    s.epoch = epoch_;
  }
  // Relaxed: read by `take` only, which is not called beside this one.
  s.leased.store(true, std::memory_order_relaxed);
  return {s, built};
}

recent_schedules::lease::~lease() {
  if (!steps_) return;
  if (!from_) {
    schedule_cache::give(steps_);
    return;
  }
  // Relaxed: this thread was given the lease by the one that set it.
  HEADWAY_DEBUG_ASSERT(from_->leased.load(std::memory_order_relaxed));
  if (spoilt_) from_->steps.reset();
  from_->leased.store(false, std::memory_order_release);  // (L)
}

}  // namespace headway::collectives
