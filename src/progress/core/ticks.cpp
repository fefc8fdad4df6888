#include "progress/core/ticks.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace headway::progress {

void ticks::add(function tick, void* argument, std::uint32_t every) {
  const base::lock_guard hold(lock_);
  HEADWAY_ASSERT(entries_.size() < count_max && tick && every > 0);
  entries_.push_back({tick, argument, every});
}

void ticks::remove(function tick, void* argument) {
  const base::lock_guard hold(lock_);
  std::erase_if(entries_, [&](const entry& e) { return e.tick == tick && e.argument == argument; });
}

void ticks::run(std::uint64_t now_ns) noexcept {
  if (!lock_.try_lock()) return;  // another thread does it
  const base::lock_guard hold(lock_, std::adopt_lock);
  if (now_ns < due_ns_.load(std::memory_order_relaxed)) return;  // another thread has done it
  due_ns_.store(now_ns + period_ns, std::memory_order_relaxed);  // the lock orders the writers
  ++times_;
  for (const auto& e : entries_)
    if (times_ % e.every == 0) e.tick(e.argument);
}

}  // namespace headway::progress
