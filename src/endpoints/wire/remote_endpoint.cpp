#include "endpoints/wire/remote_endpoint.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"

namespace headway::endpoints {

/// The slot holds another end-point than expected: `use` is later (true), or closed.
bool remote_endpoint::begin(std::uint32_t use, woken& then) noexcept {
  const auto known = id_.load(std::memory_order_relaxed);
  if (known != 0 && !later_lap(use, known)) return false;
  id_.store(use, std::memory_order_relaxed);
  used_.store(0, std::memory_order_relaxed);
  gone_.store(false, std::memory_order_relaxed);
  then.add_all(senders_);
  return true;
}

void remote_endpoint::end(woken& then) noexcept {
  gone_.store(true, std::memory_order_relaxed);
  then.add_all(senders_);
}

void remote_endpoint::count(std::uint32_t use, std::uint32_t units) noexcept {
  const base::lock_guard guard(lock_);
  if (id_.load(std::memory_order_relaxed) == use) add(static_cast<std::int32_t>(units));
}

remote_endpoint::answer remote_endpoint::take(std::uint32_t use, std::uint32_t units,
                                              std::uint32_t window, waiting_thread* me) noexcept {
  HEADWAY_DEBUG_ASSERT(use != 0 && units != 0 && units <= window / 2);
  const auto most = static_cast<std::int32_t>(window);
  woken then;
  const base::lock_guard guard(lock_);
  if (id_.load(std::memory_order_relaxed) != use && !begin(use, then)) return answer::gone;
  if (gone_.load(std::memory_order_relaxed)) return answer::gone;
  // While less than half of the window is used every message is admitted, so that a large one never
  // needs all of it.
  const auto used = used_.load(std::memory_order_relaxed);
  const auto more = static_cast<std::int32_t>(units);
  if (used < most / 2 || used + more <= most) {
    add(more);
    return answer::granted;
  }
  if (me) {
    me->listed = true;
    senders_.push_back(*me);
  }
  return answer::full;
}

bool remote_endpoint::withdraw(waiting_thread& me) noexcept {
  const base::lock_guard guard(lock_);
  const bool listed = std::exchange(me.listed, false);
  if (listed) senders_.erase(me);
  return listed;
}

void remote_endpoint::give_back(std::uint32_t use, std::uint32_t units,
                                std::uint32_t window) noexcept {
  const auto most = static_cast<std::int32_t>(window);
  woken then;
  const base::lock_guard guard(lock_);
  if (id_.load(std::memory_order_relaxed) != use) return;
  // The process may not return more units than were sent.
  add(-static_cast<std::int32_t>(std::min(units, window)));
  if (used_.load(std::memory_order_relaxed) < -most) used_.store(-most, std::memory_order_relaxed);
  if (used_.load(std::memory_order_relaxed) <= most / 2) then.add_all(senders_);
}

void remote_endpoint::close(std::uint32_t use) noexcept {
  woken then;
  const base::lock_guard guard(lock_);
  if (id_.load(std::memory_order_relaxed) == use) end(then);
}

void remote_endpoint::lose() noexcept {
  woken then;
  const base::lock_guard guard(lock_);
  end(then);
}

remote_endpoint& remote_endpoints::at(std::uint32_t id) {
  auto* all = all_.load(std::memory_order_acquire);  // (N)
  if (!all) {
    auto fresh = std::make_unique<pages>();
    if (all_.compare_exchange_strong(all, fresh.get(), std::memory_order_release,  // (N)
                                     std::memory_order_acquire))                   // (N)
      all = fresh.release();
  }
  return all->at(slot_of(id));
}

void remote_endpoints::lose() noexcept {
  auto* all = all_.load(std::memory_order_acquire);  // (N)
  if (!all) return;
  for (std::uint32_t slot = 0; slot < slots_max;) {
    remote_endpoint* at = all->find(slot);
    if (at) at->lose();
    slot += at ? 1 : pages::page_slots;  // a page is made as a whole
  }
}

}  // namespace headway::endpoints
