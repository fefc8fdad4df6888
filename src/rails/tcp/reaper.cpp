#include "rails/tcp/reaper.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/lock_guard.hpp"
#include "base/log.hpp"
#include "base/thread_role.hpp"

namespace headway::rails::tcp {
namespace {

// Besides one for each connection: for what the modules above have not released.
constexpr std::size_t spare_blocks = 256;

constexpr std::uint64_t ns_per_s = 1'000'000'000;

}  // namespace

reaper::reaper(shared_state& shared, const credentials& own)
    : shared_(&shared),
      connections_(static_cast<connection_events&>(*this), shared.watch, shared.known, own,
                   shared.how),
      blocks_(spare_blocks),
      reader_(shared.links, static_cast<link_reader::listener&>(*this),
              shared.how.low_water_bytes) {
  sent_.reserve(output::entry_count);
}

base::result<std::vector<endpoint>> reaper::open(std::span<const net_interface> on) {
  return connections_.open(on);
}

std::size_t reaper::reap(std::span<event> out) noexcept {
  event_sink sink(out);
  report(sink);
  const bool asked = shared_->wake.requested();
  const bool timed = connections_.next_deadline_ns() != UINT64_MAX;
  if (asked || timed) meet_requests(shared_->clock.now_ns());
  report_losses(sink);
  if (!serving_.empty()) answer_peers();
  if (reader_.any_ready()) reader_.read_ready(sink);
  const bool leaves_out = std::exchange(drained_, false) && base::runs_in_background() &&
                          !shared_->wake.woken();  // it has not slept since
  if (!leaves_out) read(sink);
  if (sink.count() == 0) reader_.nothing_came(sink);
  report(sink);
  if (!losing_.empty()) report_losses(sink);
  shared_->wake.set_unfinished(reader_.any_ready() || !serving_.empty() || !losing_.empty() ||
                               !sent_.empty() || !restored_.empty() || !called_.empty());
  return sink.count();
}

/// A background thread that has reaped something reaps once more before it sleeps. If it has read
/// all connections to their end (`drained_`), `reap` leaves out the system calls of that round:
/// data that has come meanwhile makes its `epoll_wait` return at once.
void reaper::read(event_sink& out) noexcept {
  auto& wake = shared_->wake;
  const bool others = up_count_ > reader_.recent();  // connections that had no data recently
  bool look = ++rounds_ >= rounds_between_looks || (others && wake.woken()) ||
              shared_->writer.watches_any() || connections_.busy();
  if (!look) {
    const auto before = out.count();
    reader_.read_recent(out);
    const bool came = out.count() != before;
    look = !came && (others || wake.asleep() || wake.woken());
    if (came && !others) {
      wake.forget_woken();
      drained_ = base::runs_in_background() && !reader_.any_ready() && serving_.empty();
    }
  }
  if (look) look_at_watch_set(out);
}

void reaper::release(const event& received) noexcept {
  auto& b = *reinterpret_cast<block*>(received.driver_word);
  HEADWAY_DEBUG_ASSERT(b.unreleased > 0);
  --b.unreleased;
  blocks_.settle(b);
}

void reaper::meet_requests(std::uint64_t now_ns) noexcept {
  shared_->wake.take_requests([&](link& l) { meet_request(l, now_ns); });
  if (now_ns >= connections_.next_deadline_ns()) connections_.on_time(now_ns);
  if (shared_->wake.take_health_check()) check_health();
}

void reaper::meet_request(link& l, std::uint64_t now_ns) noexcept {
  l.lock.lock();
  const auto now = l.now;
  const bool sever = l.sever;
  const std::span<const route> routes(l.routes);
  l.lock.unlock();
  if (sever && now <= link::state::up) {
    if (l.fd) abandon(l.fd.get());
    lose(l.peer);
  } else if (now == link::state::calling) {
    connections_.call(l.peer, routes, now_ns);
  }
}

void reaper::look_at_watch_set(event_sink& out) noexcept {
  rounds_ = 0;
  shared_->wake.forget_woken();
  std::array<epoll_event, watch_events_max> found;
  const int count = epoll_wait(shared_->watch.fd(), found.data(), watch_events_max, 0);
  std::uint64_t now_ns = 0;
  for (int i = 0; i < count; ++i) {
    const auto& e = found[static_cast<std::size_t>(i)];
    const auto which = which_of(e.data.u64);
    const auto kind = kind_of(e.data.u64);
    if (kind == watch_kind::link) {
      const auto peer = static_cast<std::uint32_t>(which);
      if ((e.events & EPOLLOUT) != 0) write(peer);
      if ((e.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) reader_.read(peer, out);
      continue;
    }
    if (now_ns == 0) now_ns = shared_->clock.now_ns();
    if (kind == watch_kind::bell) {
      shared_->wake.drain();
    } else if (kind == watch_kind::listener) {
      connections_.on_listener(which, now_ns);
    } else {
      connections_.on_pending(which, now_ns);
    }
  }
}

// ---- writing ------------------------------------------------------------------------------------

void reaper::write(std::uint32_t peer) noexcept {
  auto& l = shared_->links.at(peer);
  if (!l.lock.try_lock()) return;  // its sender writes now; the watch set will report it again
  const base::lock_guard guard(l.lock, std::adopt_lock);
  if (l.now != link::state::up || l.write_error != 0) return;
  bool blocked = false;
  for (std::size_t turn = 0; turn < 2 && !blocked && l.unwritten(); ++turn) {
    link_writer::cookies done;
    const auto count = shared_->writer.write_some(l, done, blocked);
    for (std::size_t i = 0; i < count; ++i) sent_.emplace_back(peer, done[i]);
    if (l.write_error != 0) return;
  }
  if (l.in && !l.in->asked().empty())
    shared_->writer.answer(l, peer, shared_->memory, l.in->asked());
  if (!l.unwritten()) shared_->writer.watch_output(l, peer, false);
}

void reaper::asked(std::uint32_t peer) noexcept {
  auto& l = shared_->links.at(peer);
  if (!std::exchange(l.serving, true)) serving_.push_back(peer);
}

void reaper::answer_peers() noexcept {
  serving_now_.swap(serving_);
  for (const auto peer : serving_now_) {
    auto& l = shared_->links.at(peer);
    l.serving = false;
    if (!l.in) continue;  // lost meanwhile
    if (!l.lock.try_lock()) {
      asked(peer);  // its sender writes now
      continue;
    }
    const base::lock_guard guard(l.lock, std::adopt_lock);
    if (l.in->owes_receipt() && shared_->writer.send_receipt(l, l.in->received()))
      l.in->receipt_sent();
    shared_->writer.answer(l, peer, shared_->memory, l.in->asked());
  }
  serving_now_.clear();
}

/// Reports what was sent, which peers have called, and which are back.
void reaper::report(event_sink& out) noexcept {
  std::size_t reported = 0;
  for (; reported < sent_.size() && !out.full(); ++reported) {
    const auto& [peer, cookie] = sent_[reported];
    out.put({.kind = event_kind::sent, .peer = peer_id{peer}, .cookie = cookie, .bytes = {}});
  }
  if (reported > 0)
    sent_.erase(sent_.begin(), sent_.begin() + static_cast<std::ptrdiff_t>(reported));
  for (; !called_.empty() && !out.full(); called_.pop_back())
    out.put({.kind = event_kind::called, .peer = peer_id{called_.back()}, .bytes = {}});
  while (!restored_.empty() && losing_.empty() && !out.full()) {
    const auto peer = restored_.back();
    restored_.pop_back();
    // A peer that is already lost again is reported as lost, with or without `restored`.
    auto& l = shared_->links.at(peer);
    const base::lock_guard guard(l.lock);
    if (l.now == link::state::up)
      out.put({.kind = event_kind::restored, .peer = peer_id{peer}, .bytes = {}});
  }
}

// ---- connections come and go --------------------------------------------------------------------

connection_events::relation reaper::relation_to(std::uint32_t peer) const noexcept {
  auto* const l = shared_->links.find(peer_id{peer});
  if (!l) return relation::apart;
  const base::lock_guard guard(l->lock);
  switch (l->now) {
    case link::state::apart:
    case link::state::calling:
      return relation::apart;
    case link::state::up:
      return relation::together;
    default:
      return relation::over;
  }
}

std::uint64_t reaper::received_from(std::uint32_t peer) const noexcept {
  const auto* const l = shared_->links.find(peer_id{peer});
  return l && l->in ? l->in->received() : 0;
}

void reaper::connected(std::uint32_t peer, made_connection made) noexcept {
  auto& l = shared_->links.meet(peer);
  const auto& keys = made.keys;
  auto reads = keys ? std::make_unique<record_reader>(keys->receive) : nullptr;
  l.up_since_ns = shared_->clock.now_ns();
  l.told.has_sent.store(made.called, std::memory_order_relaxed);
  bool waiting = false;
  bool revived = false;
  bool watched = false;
  bool resumed = false;
  bool whole = false;
  {
    const base::lock_guard guard(l.lock);
    l.fd = std::move(made.fd);
    const bool known = l.known.load(std::memory_order_relaxed);  // set under the lock
    if (!known) called_.push_back(peer);
    l.now = link::state::up;
    revived = std::exchange(l.revived, false);
    resumed = std::exchange(l.resuming, false);
    l.records = keys ? std::make_unique<record_writer>(keys->send) : nullptr;
    l.log.begin(l.fd.get(), l.told, keys ? sent_log::source::peer : sent_log::source::kernel);
    whole = l.log.rewind(made.peer_received);
    waiting = l.unwritten();
    shared_->writer.set_watching(l, waiting);
    std::uint32_t events = 0;
    if (known) events |= EPOLLIN;
    if (waiting) events |= EPOLLOUT;
    watched = shared_->watch.change(l.fd.get(), events, watch_word(watch_kind::link, peer));
    if (!watched) shared_->writer.fail(l, errno);
  }
  if (resumed) {
    l.in->go_on(std::move(reads));
    l.silence = {};
    changes_.say(complaint::resumed, fmt::format("peer {}", l.peer), l.up_since_ns);
  } else {
    l.in = std::make_unique<input>(blocks_, shared_->memory, peer_id{peer}, std::move(reads));
    blocks_.limit_to(spare_blocks + ++up_count_);
  }
  if (!whole) {
    base::log(
        base::severity::error,
        "{}: the connection to peer {} cannot go on: what the peer lacks is not kept any more",
        shared_->name, l.peer);
    return lose(peer);
  }
  if (revived) restored_.push_back(peer);
  reader_.touch(peer);
  if (!watched) return ended(peer, input::state::ended);
  if (!l.in->asked().empty()) asked(peer);
  if (waiting) write(peer);
}

void reaper::unreachable(std::uint32_t peer, bool refused) noexcept {
  auto* const l = shared_->links.find(peer_id{peer});
  if (!l) return;
  l->refused = refused;
  lose(peer);
}

connection_events::past reaper::past_with(std::uint32_t peer) const noexcept {
  auto* const l = shared_->links.find(peer_id{peer});
  if (!l) return past::none;
  const base::lock_guard guard(l->lock);
  return l->resuming ? past::resuming : l->revived ? past::returning : past::none;
}

/// A peer calls again only if it has lost the connection that still seems to be up here. A call
/// that began before that connection was made is younger than `doubt_ns`.
void reaper::called_again(std::uint32_t peer, std::uint64_t now_ns) noexcept {
  constexpr std::uint64_t doubt_ns = 1'000'000'000;
  auto& l = shared_->links.at(peer);
  // what it has sent must be read first
  const bool unread = !l.known.load(std::memory_order_relaxed);
  if (unread || now_ns < l.up_since_ns + doubt_ns) return;
  base::log(base::severity::info, "{}: peer {} calls again: the old connection is lost",
            shared_->name, l.peer);
  {
    const base::lock_guard guard(l.lock);
    if (l.log.is_open()) return shared_->writer.fail(l, ECONNRESET);
  }
  lose(peer);
}

void reaper::check_health() noexcept {
  const auto now_ns = shared_->clock.now_ns();
  shared_->links.each([&](link& l) {
    if (!l.in) return;
    if (l.fd) look_at_silence(l);
    else say_missing(l, now_ns);
  });
}

void reaper::look_at_silence(link& l) noexcept {
  const auto dead_ns = shared_->how.dead_ns;
  const auto silence_ns = unanswered_ns(l.fd.get());
  if (silence_ns == 0) return end_silence(l);
  if (dead_ns != 0 && silence_ns >= dead_ns) {
    base::log(base::severity::error,
              "{}: the machine of peer {} has not answered for {} s (HEADWAY_TCP_DEAD_MS): it "
              "counts as dead",
              shared_->name, l.peer, silence_ns / ns_per_s);
    return lose(l.peer);
  }
  if (l.silence.due(silence_ns))
    base::log(base::severity::warning, "{}: the machine of peer {} does not answer, for {} s",
              shared_->name, l.peer, silence_ns / ns_per_s);
}

/// Its machine has acknowledged everything, or a message of it has arrived.
void reaper::end_silence(link& l) const noexcept {
  if (l.silence.said())
    base::log(base::severity::warning, "{}: the machine of peer {} answers again", shared_->name,
              l.peer);
  l.silence = {};
}

/// Its connection is being made again.
void reaper::say_missing(link& l, std::uint64_t now_ns) const noexcept {
  const auto since_ns = now_ns - l.cut_since_ns;
  if (l.silence.due(since_ns))
    base::log(base::severity::warning, "{}: no connection to peer {}, for {} s", shared_->name,
              l.peer, since_ns / ns_per_s);
}

void reaper::ended(std::uint32_t peer, input::state how) noexcept {
  auto& l = shared_->links.at(peer);
  if (how == input::state::unverified) {
    changes_.say(complaint::unverified, fmt::format("peer {}", l.peer), shared_->clock.now_ns());
    if (!resume(peer)) lose(peer);
    return;
  }
  if (how == input::state::broken) {
    base::log(base::severity::error, "{}: peer {} breaks the format of frames: connection closed",
              shared_->name, l.peer);
    return lose(peer);
  }
  if (l.in->said_goodbye()) {
    end_silence(l);
    return drop(peer, link::state::leaving);
  }
  base::log(base::severity::info, "{}: connection to peer {} lost", shared_->name, l.peer);
  if (resume(peer)) return;
  say_lost(l.peer, l.in->error());
  lose(peer);
}

/// Both ends make another connection, and go on with their streams where the other one has them.
/// Everything that was received has been read. False: this connection is not resumed.
bool reaper::resume(std::uint32_t peer) noexcept {
  auto& l = shared_->links.at(peer);
  const auto now_ns = shared_->clock.now_ns();
  std::span<const route> routes;
  {
    const base::lock_guard guard(l.lock);
    if (!l.log.is_open() || l.now != link::state::up) return false;
    // The peer has all, and may have left since.
    if (l.goodbye_said && unacknowledged_bytes(l.fd.get()).value_or(1) == 0) return false;
    shared_->writer.set_watching(l, false);
    l.now = link::state::calling;
    l.resuming = true;
    l.write_error = 0;
    l.records.reset();
    l.log.end_connection();
    l.fd.reset();  // closing removes it from the watch set
    shared_->writer.note_queue(l);
    routes = l.routes;
  }
  l.low_water = 1;
  l.cut_since_ns = now_ns;
  l.silence = {};
  reader_.forget(peer);
  connections_.call(peer, routes, now_ns);
  return true;
}

void reaper::drop(std::uint32_t peer, link::state how) noexcept {
  auto& l = shared_->links.at(peer);
  {
    const base::lock_guard guard(l.lock);
    if (l.now > link::state::up) return;  // already
    shared_->writer.set_watching(l, false);
    l.now = how;
    l.sever = false;
    l.revived = l.resuming = false;
    l.log.end_connection();
    l.fd.reset();  // closing removes it from the watch set
  }
  l.low_water = 1;
  connections_.stop_calling(peer);
  if (l.in) {
    blocks_.limit_to(spare_blocks + --up_count_);
    reader_.forget(peer);
    l.in.reset();
  }
  losing_.push_back(peer);
}

/// First the ends of everything posted, then the loss itself.
void reaper::report_losses(event_sink& out) noexcept {
  while (!losing_.empty() && !out.full()) {
    const auto peer = losing_.back();
    auto& l = shared_->links.at(peer);
    const base::lock_guard guard(l.lock);
    l.log.close();
    auto cookie = l.out.drop();
    if (!cookie) cookie = shared_->memory.calls.drop(peer_id{peer});
    if (cookie) {
      out.put({.kind = event_kind::failed, .peer = peer_id{peer}, .cookie = *cookie, .bytes = {}});
      continue;
    }
    if (l.now == link::state::losing)
      out.put({.kind = event_kind::lost,
               .peer = peer_id{peer},
               .count = std::exchange(l.refused, false) ? 1u : 0u,
               .bytes = {}});
    l.now = l.now == link::state::losing ? link::state::lost : link::state::left;
    l.out.clear();
    l.records.reset();
    shared_->writer.note_queue(l);
    losing_.pop_back();
  }
}

// ---- closing ------------------------------------------------------------------------------------

bool reaper::finish_sending() noexcept {
  bool all = true;
  shared_->links.each([&](link& l) {
    const base::lock_guard guard(l.lock);
    if (l.now == link::state::calling && !l.revived) all = false;
    if (l.now != link::state::up || l.write_error != 0) return;
    if (!l.unwritten() && !l.goodbye_said) {
      l.goodbye_said = l.out.take_frame({.kind = frame_kind::goodbye});
      link_writer::cookies none;
      bool blocked = false;
      (void)shared_->writer.write_some(l, none, blocked);
      if (l.unwritten()) {
        shared_->writer.watch_output(l, l.peer, true);
      } else if (l.write_error == 0) {
        shutdown(l.fd.get(), SHUT_WR);
      }
    }
    const auto unacknowledged = unacknowledged_bytes(l.fd.get());
    if (l.unwritten() || unacknowledged.value_or(0) > 0) all = false;
    else if (unacknowledged) end_silence(l);
  });
  return all;
}

void reaper::close(last_events& last) noexcept {
  connections_.close();
  for (const auto& [peer, cookie] : sent_)
    last.keep({.kind = event_kind::sent, .peer = peer_id{peer}, .cookie = cookie, .bytes = {}});
  shared_->links.each([&](link& l) {
    const base::lock_guard guard(l.lock);
    l.now = link::state::lost;
    l.in.reset();
    l.fd.reset();
    l.log.close();
    const peer_id peer{l.peer};
    const auto keep_failed = [&](std::uint64_t cookie) {
      last.keep({.kind = event_kind::failed, .peer = peer, .cookie = cookie, .bytes = {}});
    };
    while (const auto cookie = l.out.drop()) keep_failed(*cookie);
    while (const auto cookie = shared_->memory.calls.drop(peer)) keep_failed(*cookie);
    l.out.clear();
    l.records.reset();
    shared_->writer.note_queue(l);
  });
}

}  // namespace headway::rails::tcp
