#include "rails/tcp/memory_access.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"

namespace headway::rails::tcp {
namespace {

[[maybe_unused]] bool inside(const remote_place& at, std::size_t bytes) noexcept {
  return at.offset <= at.exposed.bytes && bytes <= at.exposed.bytes - at.offset;
}

}  // namespace

bool ready_to_write(link& l, wake_up& wake) noexcept {
  // written by `connect`, of this thread
  if (!l.known.load(std::memory_order_relaxed)) return false;
  switch (l.now) {
    case link::state::up:
      return l.write_error == 0 || l.log.is_open();
    case link::state::apart:
      l.now = link::state::calling;
      wake.request(l);
      return true;
    case link::state::calling:
      return true;
    case link::state::leaving:
    case link::state::left:
    case link::state::losing:
    case link::state::lost:
      break;
  }
  return false;
}

memory_limits memory_access::limits_to(peer_id peer) const noexcept {
  const bool known = shared_->links.find(peer) != nullptr;
  return {.put = known, .get = known, .atomic = known, .flush = known, .notifies = true};
}

base::result<ticket> memory_access::expose(const exposure& what) noexcept {
  return shared_->memory.exposed.expose(what);
}

void memory_access::withdraw(const ticket& exposed) noexcept {
  shared_->memory.exposed.remove(exposed.id);
}

post memory_access::put(peer_id peer, const remote_place& to, std::span<const std::byte> from,
                        std::uint64_t cookie) noexcept {
  return write(peer, to, {.bytes = from, .cookie = cookie});
}

post memory_access::put_lent(peer_id peer, const remote_place& to, std::span<const std::byte> from,
                             std::uint64_t cookie) noexcept {
  return write(peer, to, {.bytes = from, .cookie = cookie, .lent = true});
}

post memory_access::write(peer_id peer, const remote_place& to,
                          const output::payload& from) noexcept {
  HEADWAY_DEBUG_ASSERT(inside(to, from.bytes.size()));
  auto* const l = shared_->links.find(peer);
  if (!l) return post::down;
  const base::lock_guard guard(l->lock);
  if (!ready_to_write(*l, shared_->wake)) return post::down;
  return shared_->writer.put(*l, l->peer, to, from);
}

post memory_access::request(peer_id peer, const remote_place& at, memory_request what,
                            std::span<std::byte> to, std::uint64_t cookie) noexcept {
  HEADWAY_DEBUG_ASSERT(inside(at, to.size()));
  auto* const l = shared_->links.find(peer);
  if (!l) return post::down;
  const base::lock_guard guard(l->lock);
  if (!ready_to_write(*l, shared_->wake)) return post::down;
  const auto answer = shared_->memory.calls.begin(peer, to, cookie);
  if (!answer) return post::retry;
  what.bytes = std::max<std::uint64_t>(to.size(), 1);
  what.answer = *answer;
  if (shared_->writer.request(*l, l->peer, at, what)) return post::posted;
  shared_->memory.calls.cancel(*answer);
  return post::retry;
}

post memory_access::get(peer_id peer, const remote_place& from, std::span<std::byte> to,
                        std::uint64_t cookie) noexcept {
  return to.empty() && shared_->links.find(peer) ? post::done : request(peer, from, {}, to, cookie);
}

post memory_access::atomic(peer_id peer, const remote_place& at, const atomic_request& what,
                           std::uint64_t& before, std::uint64_t cookie) noexcept {
  return request(peer, at, {.changes = true, .change = what},
                 std::as_writable_bytes(std::span(&before, 1)), cookie);
}

/// The peer reads the request after everything that was put before, and refuses it.
post memory_access::flush(peer_id peer, std::uint64_t cookie) noexcept {
  return request(peer, {.exposed = {.id = exposures::never}}, {}, {}, cookie);
}

}  // namespace headway::rails::tcp
