#include "packets/stalled_list.hpp"

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "packets/scheduler.hpp"

namespace headway::packets {

void stalled_list::add(scheduler& whom) noexcept {
  member& m = whom;
  const base::lock_guard guard(lock_);
  if (m.stalled) return;
  m.stalled = true;
  list_.push_back(m);
  count_.fetch_add(1, std::memory_order_relaxed);
  engine_.pending_started();
}

bool stalled_list::retry(std::size_t rail_index) noexcept {
  base::intrusive_list<member> again;
  {
    const base::lock_guard guard(lock_);
    for (member* m = list_.front(); m;) {
      member* following = list_.after(*m);
      if (m->stalled_rail == rail_index) {
        list_.erase(*m);
        again.push_back(*m);
      }
      m = following;
    }
  }
  bool moved = false;
  while (member* m = again.pop_front()) moved |= static_cast<scheduler*>(m)->resume();
  return moved;
}

void stalled_list::keep(scheduler& whom) noexcept {
  const base::lock_guard guard(lock_);
  HEADWAY_DEBUG_ASSERT(static_cast<member&>(whom).stalled);
  list_.push_back(whom);
}

void stalled_list::remove(scheduler& whom) noexcept {
  member& m = whom;
  const base::lock_guard guard(lock_);
  HEADWAY_DEBUG_ASSERT(m.stalled);
  m.stalled = false;
  count_.fetch_sub(1, std::memory_order_relaxed);
}

void stalled_list::clear() noexcept {
  const base::lock_guard guard(lock_);
  while (member* m = list_.pop_front()) {
    m->stalled = false;
    count_.fetch_sub(1, std::memory_order_relaxed);
    engine_.pending_ended();
  }
  HEADWAY_ASSERT(!any());
}

}  // namespace headway::packets
