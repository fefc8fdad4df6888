#include "rails/tcp/link_health.hpp"

#include "base/lock_guard.hpp"

namespace headway::rails::tcp {

void link_health::sever(peer_id peer) noexcept {
  auto* const l = shared_->links.find(peer);
  if (!l) return;
  {
    const base::lock_guard guard(l->lock);
    if (l->now > link::state::up) return;
    l->sever = true;
  }
  shared_->wake.request(*l);
}

void link_health::revive(peer_id peer) noexcept {
  auto* const l = shared_->links.find(peer);
  if (!l) return;
  {
    const base::lock_guard guard(l->lock);
    if (l->now != link::state::lost) return;
    l->now = link::state::calling;
    l->revived = true;
    l->sever = false;
    l->write_error = 0;
  }
  shared_->wake.request(*l);
}

void link_health::resume_if_cut(peer_id peer) noexcept {
  auto* const l = shared_->links.find(peer);
  if (!l || !shared_->how.resume) return;
  const base::lock_guard guard(l->lock);
  l->log.open();
}

std::uint64_t link_health::last_activity_ns(peer_id peer) noexcept {
  auto* const l = shared_->links.find(peer);
  if (!l) return 0;
  const base::lock_guard guard(l->lock);
  if (l->now != link::state::up) return 0;
  const auto silence = silence_ns(l->fd.get());
  const auto now_ns = shared_->clock.now_ns();
  return silence < now_ns ? now_ns - silence : 0;
}

}  // namespace headway::rails::tcp
