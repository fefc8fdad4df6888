#include "progress/ticks.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace headway::progress {

void ticks::add(function tick, void* argument) {
  const std::lock_guard hold(lock_);
  HEADWAY_ASSERT(entries_.size() < count_max);
  entries_.push_back({tick, argument});
}

void ticks::remove(function tick, void* argument) {
  const std::lock_guard hold(lock_);
  std::erase_if(entries_, [&](const entry& e) { return e.tick == tick && e.argument == argument; });
}

void ticks::run(std::uint64_t now_ns) noexcept {
  std::unique_lock hold(lock_, std::try_to_lock);
  if (!hold || now_ns < due_ns_.load(std::memory_order_relaxed)) return;  // somebody else does it
  due_ns_.store(now_ns + period_ns, std::memory_order_relaxed);  // the lock orders those who write
  for (const auto& e : entries_) e.tick(e.argument);
}

}  // namespace headway::progress
