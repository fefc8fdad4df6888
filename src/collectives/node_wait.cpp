#include "collectives/node_wait.hpp"

#include "base/lock_guard.hpp"

namespace headway::collectives {

node_wait::poll_task::poll_task(const char* name, node_wait& of) noexcept
    : ltask(name, &node_wait::poll), owner(of) {}

node_wait::node_wait(const char* name, rails::shm_slots& memory, progress::engine& engine)
    : memory_(memory), engine_(engine), task_(name, *this) {
  memory_.watch(watcher_);
}

node_wait::~node_wait() { memory_.unwatch(watcher_); }

/// A thread that goes to sleep on the rail, and from then on has to be woken, calls `ready`. Either
/// it sees `waits_`, and looks; or it has held the lock before. In that case the look that follows
/// here sees the values whose writers did not wake it: as in `shared_banks::pend`.
void node_wait::wait() noexcept {
  done_.reset();
  {
    const base::lock_guard held(lock_);
    waits_ = true;
  }
  engine_.submit_signalled(task_);
  if (is_there()) engine_.look_now();
  engine_.wait(done_);
}

/// While the lock is held the wait does not end, so what `is_there` reads stays.
bool node_wait::watcher::ready() const noexcept {
  const base::lock_guard held(owner.lock_);
  return owner.waits_ && owner.is_there();
}

progress::ltask_result node_wait::poll(progress::ltask& task) noexcept {
  auto& self = static_cast<poll_task&>(task).owner;
  if (!self.is_there() && !self.is_over()) return progress::ltask_result::idle;
  {
    const base::lock_guard held(self.lock_);
    self.waits_ = false;
  }
  self.done_.complete();
  return progress::ltask_result::done;
}

}  // namespace headway::collectives
