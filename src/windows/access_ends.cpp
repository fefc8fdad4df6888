#include "windows/access_ends.hpp"

#include <utility>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"

namespace headway::windows {

void access_ends::expect(int rank) noexcept {
  const base::lock_guard held(lock_);
  HEADWAY_DEBUG_ASSERT(0 <= rank && static_cast<std::size_t>(rank) < ahead_.size());
  if (ahead_[static_cast<std::size_t>(rank)]-- <= 0) ++missing_;
}

void access_ends::came(int rank) noexcept {
  bool last = false;
  {
    const base::lock_guard held(lock_);
    HEADWAY_DEBUG_ASSERT(0 <= rank && static_cast<std::size_t>(rank) < ahead_.size());
    if (ahead_[static_cast<std::size_t>(rank)]++ < 0) --missing_;
    last = ends_wait();
  }
  if (last) all_.complete();
}

void access_ends::lose() noexcept {
  bool last = false;
  {
    const base::lock_guard held(lock_);
    lost_ = true;
    last = ends_wait();
  }
  if (last) all_.complete();
}

bool access_ends::ends_wait() noexcept { return is_over() && std::exchange(awaited_, false); }

bool access_ends::has_all() const noexcept {
  const base::lock_guard held(lock_);
  return is_over();
}

status access_ends::await() noexcept {
  bool waits = false;
  {
    const base::lock_guard held(lock_);
    waits = awaited_ = !is_over();
    if (waits) all_.reset();
  }
  if (waits) engine_.wait(all_);
  const base::lock_guard held(lock_);
  return lost_ ? status::lost : status::ok;
}

}  // namespace headway::windows
