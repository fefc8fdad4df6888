#include "rails/tcp/connection_manager.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/log.hpp"
#include "rails/tcp/congestion.hpp"

namespace headway::rails::tcp {
namespace {

constexpr std::uint64_t first_pause_ns = 10'000'000;
constexpr std::uint64_t longest_pause_ns = 500'000'000;
constexpr std::uint64_t taken_pause_ns = 1'000'000'000;
constexpr std::uint64_t returning_pause_ns = 100'000'000;
constexpr int accepts_per_turn = 16;

std::uint64_t pending_word(std::size_t slot, std::uint32_t generation) noexcept {
  return watch_word(watch_kind::pending, std::uint64_t{generation & 0xffffff} << 32 | slot);
}

}  // namespace

connection_manager::connection_manager(connection_events& h, watch_set& watch,
                                       processes::table& known, const credentials& own,
                                       const settings& s)
    : host_(&h), watch_(&watch), known_(&known), own_(&own), settings_(&s) {}

base::result<std::vector<endpoint>> connection_manager::open(std::span<const net_interface> on) {
  std::vector<endpoint> made;
  base::fault why{base::fault_kind::unsupported, "no address to listen on"};
  for (const auto& i : on)
    for (const auto& ip : i.addresses) {
      if (listeners_.size() == address::endpoints_max) break;
      auto l = listen_on(ip, *settings_, i.shares_subnet ? i.name : std::string());
      if (!l) {
        // An address may disappear during start-up; that of another interface will do.
        base::log(base::severity::info, "tcp:{}: {}", i.name, l.error().text);
        why = std::move(l.error());
        continue;
      }
      made.push_back(l->at);
      listeners_.push_back(std::move(*l));
    }
  if (listeners_.empty()) return base::failed(why.kind, fmt::format("tcp: {}", why.text));
  if (!resume_listeners()) return base::failed_errno("epoll_ctl", errno);
  return made;
}

void connection_manager::close() noexcept {
  listeners_.clear();
  places_.clear();
  calling_.clear();
  unauthenticated_ = 0;
  deadline_ns_.store(UINT64_MAX, std::memory_order_relaxed);
}

void connection_manager::deadline_at_most(std::uint64_t when_ns) noexcept {
  if (when_ns < deadline_ns_.load(std::memory_order_relaxed))
    deadline_ns_.store(when_ns, std::memory_order_relaxed);  // carries no data, see the getter
}

std::size_t connection_manager::seat(pending_connection&& c, std::uint32_t events) noexcept {
  auto free = std::ranges::find_if(places_, [](const place& p) { return !p.who; });
  if (free == places_.end()) free = places_.insert(free, place{});
  const auto slot = static_cast<std::size_t>(free - places_.begin());
  if (!watch_->add(c.fd(), events, pending_word(slot, free->generation))) return no_slot;
  if (!c.outgoing()) ++unauthenticated_;
  free->who = std::make_unique<pending_connection>(std::move(c));
  return slot;
}

void connection_manager::dismiss(std::size_t slot) noexcept {
  auto& p = places_[slot];
  if (!p.who) return;
  if (!p.who->outgoing()) --unauthenticated_;
  p.who.reset();
  ++p.generation;  // pending events of the old connection are ignored
}

// ---- calling ------------------------------------------------------------------------------------

void connection_manager::call(std::uint32_t peer, std::span<const route> routes,
                              std::uint64_t now_ns) noexcept {
  auto& p = partners_[peer];
  if (p.calling) return;
  if (p.routes.empty()) p.routes.assign(routes.begin(), routes.end());
  p.calling = true;
  p.rounds = 0;
  p.next_route = 0;
  p.first_failure_ns = p.refused_since_ns = 0;
  calling_.push_back(peer);
  start_call_to(peer, now_ns);
}

void connection_manager::stop_calling(std::uint32_t peer) noexcept {
  auto& p = partners_[peer];
  if (!p.calling) return;
  p.calling = false;
  if (p.slot != no_slot) dismiss(std::exchange(p.slot, no_slot));
  std::erase(calling_, peer);
}

void connection_manager::start_call_to(std::uint32_t peer, std::uint64_t now_ns) noexcept {
  auto& p = partners_[peer];
  p.again_ns = 0;
  auto made = start_call(p.routes[p.next_route], *settings_);
  if (made.error != 0 && made.error != EINPROGRESS) return call_failed(peer, made.error, now_ns);
  tune_connection(made.fd.get(), *settings_);
  ++p.calls;
  p.slot = seat(pending_connection::dialled(std::move(made.fd), *own_, known_->at(peer_id{peer}),
                                            resume_point_with(peer), now_ns),
                EPOLLOUT);
  if (p.slot == no_slot) return call_failed(peer, ENOMEM, now_ns);
  deadline_at_most(now_ns + call_ns);
}

void connection_manager::call_again_at(std::uint32_t peer, std::uint64_t when_ns) noexcept {
  partners_[peer].again_ns = when_ns;
  deadline_at_most(when_ns);
}

/// A machine that answers knows whether the process lives. One that does not answer may come back:
/// the kernel would wait for it, too, if the connection were still there.
std::uint64_t connection_manager::patience_with(std::uint32_t peer, bool refused) const noexcept {
  if (refused) return settings_->refused_ns;
  if (host_->past_with(peer) != connection_events::past::resuming) return settings_->connect_ns;
  return settings_->dead_ns == 0 ? UINT64_MAX : settings_->dead_ns;
}

void connection_manager::call_failed(std::uint32_t peer, int error, std::uint64_t now_ns) noexcept {
  auto& p = partners_[peer];
  base::log(base::severity::debug, "tcp: call to peer {} at {}: errno {}", peer,
            p.routes[p.next_route].to.text(), error);
  if (p.first_failure_ns == 0) p.first_failure_ns = now_ns;
  const bool refused = error == ECONNREFUSED;
  if (!refused) p.refused_since_ns = 0;
  else if (p.refused_since_ns == 0) p.refused_since_ns = now_ns;
  const auto since_ns = refused ? p.refused_since_ns : p.first_failure_ns;
  if (now_ns - since_ns >= patience_with(peer, refused)) {
    base::log(refused ? base::severity::info : base::severity::warning, "tcp: {}",
              base::failed_errno(fmt::format("peer {} cannot be reached at {}", peer,
                                             p.routes[p.next_route].to.text()),
                                 error)
                  .error()
                  .text);
    stop_calling(peer);
    return host_->unreachable(peer, refused);
  }
  auto pause = first_pause_ns;
  if (++p.next_route == p.routes.size()) {
    p.next_route = 0;
    if (!refused) pause = std::min(longest_pause_ns, first_pause_ns << std::min(p.rounds++, 6u));
  }
  call_again_at(peer, now_ns + pause);
}

// ---- accepted connections -----------------------------------------------------------------------

void connection_manager::on_listener(std::uint64_t which, std::uint64_t now_ns) noexcept {
  if (which >= listeners_.size()) return;
  for (int turn = 0; turn < accepts_per_turn; ++turn) {
    if (unauthenticated_ >= unauthenticated_max && !make_way(now_ns)) return;
    auto found = accept_call(listeners_[which].fd.get());
    if (!found.fd) {
      if (found.error == EMFILE || found.error == ENFILE || found.error == ENOMEM ||
          found.error == ENOBUFS) {
        rejections_.say(complaint::no_memory, listeners_[which].at.text(), now_ns);
        if (lacking_since_ns_ == 0) lacking_since_ns_ = now_ns;
        if (now_ns - lacking_since_ns_ >= settings_->connect_ns) return close_listeners();
        pause_listeners(now_ns + longest_pause_ns);
      } else {
        lacking_since_ns_ = 0;
      }
      return;
    }
    lacking_since_ns_ = 0;
    tune_connection(found.fd.get(), *settings_);
    const auto slot =
        seat(pending_connection::accepted(std::move(found.fd), *own_, now_ns), EPOLLIN);
    if (slot == no_slot) continue;
    deadline_at_most(now_ns + unauthenticated_ns);
    on_pending(which_of(pending_word(slot, places_[slot].generation)), now_ns);
  }
}

/// Too many unauthenticated: drops the one that has been silent for longest, if that is long
/// enough.
bool connection_manager::make_way(std::uint64_t now_ns) noexcept {
  std::size_t oldest = no_slot;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto* c = places_[i].who.get();
    if (!c || c->outgoing() || !c->silent()) continue;
    if (oldest == no_slot || c->since_ns() < places_[oldest].who->since_ns()) oldest = i;
  }
  if (oldest != no_slot && now_ns - places_[oldest].who->since_ns() >= silent_unauthenticated_ns) {
    dismiss(oldest);
    return true;
  }
  rejections_.say(complaint::too_many_pending, "at the listener", now_ns);
  pause_listeners(now_ns + first_pause_ns);
  return false;
}

void connection_manager::pause_listeners(std::uint64_t until_ns) noexcept {
  if (paused_until_ns_ == 0)
    for (auto& l : listeners_) watch_->remove(l.fd.get());
  paused_until_ns_ = until_ns;
  deadline_at_most(until_ns);
}

/// The kernel ends the connections of callers that were not accepted: they wait no longer.
void connection_manager::close_listeners() noexcept {
  base::log(base::severity::error,
            "tcp: no caller could be accepted for {} s: no process that has no connection here can "
            "reach this one any more",
            settings_->connect_ns / 1'000'000'000);
  listeners_.clear();
}

bool connection_manager::resume_listeners() noexcept {
  paused_until_ns_ = 0;
  for (std::size_t i = 0; i < listeners_.size(); ++i)
    if (!watch_->add(listeners_[i].fd.get(), EPOLLIN, watch_word(watch_kind::listener, i)))
      return false;
  return true;
}

// ---- the handshake's progress -------------------------------------------------------------------

void connection_manager::on_pending(std::uint64_t which, std::uint64_t now_ns) noexcept {
  const auto slot = static_cast<std::size_t>(which & 0xffffffff);
  if (slot >= places_.size()) return;
  auto& p = places_[slot];
  if (!p.who || (p.generation & 0xffffff) != which >> 32) return;
  const bool was_connected = p.who->connected();
  const auto state = p.who->advance();
  switch (state) {
    case pending_connection::state::going:
      // Otherwise it is reported although nothing has come, until the handshake ends.
      if (!was_connected && p.who->connected())
        (void)watch_->change(p.who->fd(), EPOLLIN, pending_word(slot, p.generation));
      return;
    case pending_connection::state::judging:
      return judge(slot, now_ns);
    case pending_connection::state::finished:
      return read_verdict(slot, now_ns);
    case pending_connection::state::hung_up:
    case pending_connection::state::not_ours:
      return end_call(slot, state, now_ns);
  }
}

void connection_manager::admit(pending_connection&& c) noexcept {
  const auto peer = number_of(c);
  made_connection made{.fd = c.take_fd(),
                       .keys = own_->encrypts ? std::optional(c.keys()) : std::nullopt,
                       .called = c.outgoing(),
                       .peer_received = c.peer_resume_point().received};
  if (settings_->unpaced) pace_if_far(made.fd.get());
  partners_[peer].void_calls = c.peer_resume_point().calls;
  stop_calling(peer);
  host_->connected(peer, std::move(made));
}

void connection_manager::judge(std::size_t slot, std::uint64_t now_ns) noexcept {
  auto& c = *places_[slot].who;
  const auto peer = number_of(c);
  if (c.peer_encrypts() != own_->encrypts) {
    (void)c.decide(verdict::other_encryption, {});  // if it cannot be sent, the caller calls again
    dismiss(slot);
    return refuse_encryption(peer, now_ns);
  }
  if (c.peer_resume_point().calls <= partners_[peer].void_calls) return dismiss(slot);
  const auto& ours = partners_[peer].slot;
  const bool committed = ours != no_slot && places_[ours].who->committed();
  auto v = verdict::welcome;
  switch (host_->relation_to(peer)) {
    case connection_events::relation::over:
      v = verdict::gone;
      break;
    case connection_events::relation::together:
      v = verdict::taken;
      // A call that was given up when the other was welcomed may get its verdict long after.
      if (!hung_up(c.fd())) host_->called_again(peer, now_ns);
      break;
    case connection_events::relation::apart:
      if (committed && own_->self < c.peer()) v = verdict::taken;
      break;
  }
  if (!c.decide(v, resume_point_with(peer)) || v != verdict::welcome) return dismiss(slot);
  pending_connection welcome = std::move(c);
  dismiss(slot);
  admit(std::move(welcome));
}

void connection_manager::read_verdict(std::size_t slot, std::uint64_t now_ns) noexcept {
  pending_connection c = std::move(*places_[slot].who);
  const auto peer = number_of(c);
  dismiss(slot);
  partners_[peer].slot = no_slot;
  const auto past = host_->past_with(peer);
  switch (c.judged()) {
    case verdict::welcome:
      return admit(std::move(c));
    case verdict::taken:  // the peer's call is on its way; if it fails, we call again
      return call_again_at(
          peer,
          now_ns + (past == connection_events::past::none ? taken_pause_ns : returning_pause_ns));
    case verdict::gone:
      // The peer may not have asked for a new connection yet, and calls when it does: wait for
      // that.
      if (past == connection_events::past::returning) return call_failed(peer, ECONNRESET, now_ns);
      stop_calling(peer);
      return host_->unreachable(peer, false);
    case verdict::other_encryption:
      return refuse_encryption(peer, now_ns);
  }
}

/// The settings of the two sides do not change, so nothing else is tried.
void connection_manager::refuse_encryption(std::uint32_t peer, std::uint64_t now_ns) noexcept {
  const std::string_view here = own_->encrypts ? "on" : "off";
  const std::string_view there = own_->encrypts ? "off" : "on";
  rejections_.say(
      complaint::other_encryption,
      fmt::format("peer {}: HEADWAY_TCP_ENCRYPTION is {} here and {} there", peer, here, there),
      now_ns);
  stop_calling(peer);
  host_->unreachable(peer, false);
}

void connection_manager::end_call(std::size_t slot, pending_connection::state how,
                                  std::uint64_t now_ns) noexcept {
  auto& c = *places_[slot].who;
  if (how == pending_connection::state::not_ours)
    rejections_.say(complaint::not_ours, caller_name(c.fd()), now_ns);
  if (!c.outgoing()) return dismiss(slot);
  const auto peer = number_of(c);
  const int error = how == pending_connection::state::not_ours ? EPROTO : c.error();
  dismiss(slot);
  partners_[peer].slot = no_slot;
  call_failed(peer, error, now_ns);
}

void connection_manager::on_time(std::uint64_t now_ns) noexcept {
  deadline_ns_.store(UINT64_MAX, std::memory_order_relaxed);
  if (paused_until_ns_ != 0) {
    if (now_ns < paused_until_ns_) {
      deadline_at_most(paused_until_ns_);
    } else if (!resume_listeners()) {
      rejections_.say(complaint::no_memory, "at the listener", now_ns);
      pause_listeners(now_ns + longest_pause_ns);
    }
  }
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto* c = places_[i].who.get();
    // A peer that was reached may compute for long before it answers.
    if (!c || (c->outgoing() && c->connected())) continue;
    const auto due = c->since_ns() + (c->outgoing() ? call_ns : unauthenticated_ns);
    if (now_ns < due) {
      deadline_at_most(due);
      continue;
    }
    if (c->outgoing()) {
      const auto peer = number_of(*c);
      dismiss(i);
      partners_[peer].slot = no_slot;
      call_failed(peer, ETIMEDOUT, now_ns);
    } else {
      rejections_.say(complaint::too_slow, caller_name(c->fd()), now_ns);
      dismiss(i);
    }
  }
  for (std::size_t i = 0; i < calling_.size();) {
    const auto peer = calling_[i];
    const auto& p = partners_[peer];
    if (p.slot == no_slot && p.again_ns != 0) {
      if (now_ns >= p.again_ns) {
        start_call_to(peer, now_ns);
      } else {
        deadline_at_most(p.again_ns);
      }
    }
    if (i < calling_.size() && calling_[i] == peer) ++i;
  }
}

}  // namespace headway::rails::tcp
