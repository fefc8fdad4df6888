#include "rails/software_memory.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "base/log.hpp"

namespace headway::rails {

// ---- packets ------------------------------------------------------------------------------------

/// What remains of the inner driver's header.
limits software_memory::less_header(limits what) noexcept {
  what.header_bytes_max = std::min(what.header_bytes_max - sizeof(kind), header_bytes_max);
  return what;
}

base::result<> software_memory::connect(peer_id peer, std::span<const std::byte> address) {
  auto done = inner_->connect(peer, address);
  if (done) known_.emplace(peer, peer);
  return done;
}

post software_memory::send(peer_id peer, const packet& what) noexcept {
  alignas(8) std::array<std::byte, sizeof(kind) + header_bytes_max> header;
  HEADWAY_DEBUG_ASSERT(what.header.size() <= header_bytes_max);
  const auto prefix = kind::packet;
  std::memcpy(header.data(), &prefix, sizeof prefix);
  std::ranges::copy(what.header, header.begin() + sizeof prefix);
  packet longer = what;
  longer.header = std::span(header).first(sizeof prefix + what.header.size());
  const base::lock_guard guard(sending_);
  return inner_->send(peer, longer);
}

/// The payload is so small that the driver never posts it.
post software_memory::send_own(peer_id peer, const head& what,
                               std::span<const std::byte> payload) noexcept {
  const base::lock_guard guard(sending_);
  const auto said =
      inner_->send(peer, {.header = std::as_bytes(std::span(&what, 1)), .payload = payload});
  HEADWAY_DEBUG_ASSERT(said != post::posted);
  return said;
}

// ---- operations ---------------------------------------------------------------------------------

std::size_t software_memory::piece_bytes() const noexcept {
  return std::min(inner_->query().inline_bytes_max, piece_bytes_max);
}

memory_limits software_memory::limits_to(peer_id peer) const noexcept {
  const bool can = knows(peer) && piece_bytes() > 0;
  return {.put = can, .get = can, .atomic = can, .flush = can, .notifies = true};
}

post software_memory::send_pieces(waiting_put& p) noexcept {
  const auto most = piece_bytes();
  while (!p.left.empty()) {
    const auto piece = p.left.first(std::min(most, p.left.size()));
    const auto said = send_own(p.peer, {.id = p.to.exposed.id, .offset = p.to.offset}, piece);
    if (said != post::done) return said;
    p.to.offset += piece.size();
    p.left = p.left.subspan(piece.size());
  }
  return post::done;
}

/// What the rail does not take now is queued for `reap`. The driver has answered `retry`, so it
/// wakes a thread; if that thread looks for queued puts before this call ends, it waits for the
/// lock.
post software_memory::put(peer_id peer, const remote_place& to, std::span<const std::byte> from,
                          std::uint64_t cookie) noexcept {
  if (!knows(peer) || closed_.load(std::memory_order_relaxed)) return post::down;
  {
    const base::lock_guard guard(lock_);
    if (puts_.size() >= puts_max) return post::retry;
  }
  waiting_put p{.peer = peer, .to = to, .left = from, .cookie = cookie};
  auto said = send_pieces(p);
  if (said != post::retry || p.left.size() == from.size()) return said;
  std::list<waiting_put> queued(1, p);
  const base::lock_guard guard(lock_);
  said = send_pieces(queued.front());
  if (said != post::retry) return said;
  puts_.splice(puts_.end(), queued);
  return post::posted;
}

post software_memory::ask(peer_id peer, const remote_place& at, head what, std::span<std::byte> to,
                          std::uint64_t cookie) noexcept {
  if (!knows(peer) || closed_.load(std::memory_order_relaxed)) return post::down;
  const auto answer = calls_.begin(peer, to, cookie);
  if (!answer) return post::retry;
  what.id = at.exposed.id;
  what.offset = at.offset;
  what.bytes = std::max<std::uint64_t>(to.size(), 1);
  what.answer = *answer;
  const auto said = send_own(peer, what);
  if (said == post::done) return post::posted;
  calls_.cancel(*answer);
  return said;
}

post software_memory::get(peer_id peer, const remote_place& from, std::span<std::byte> to,
                          std::uint64_t cookie) noexcept {
  return to.empty() && knows(peer) ? post::done : ask(peer, from, {.what = kind::get}, to, cookie);
}

post software_memory::atomic(peer_id peer, const remote_place& at, const atomic_request& what,
                             std::uint64_t& before, std::uint64_t cookie) noexcept {
  return ask(peer, at, {.what = kind::atomic, .change = what},
             std::as_writable_bytes(std::span(&before, 1)), cookie);
}

/// The peer serves the request after everything that was put before, and refuses it.
post software_memory::flush(peer_id peer, std::uint64_t cookie) noexcept {
  return ask(peer, {.exposed = {.id = exposures::never}}, {.what = kind::get}, {}, cookie);
}

// ---- reaping ------------------------------------------------------------------------------------

std::size_t software_memory::reap(std::span<event> out) noexcept {
  if (closed_.load(std::memory_order_relaxed)) return last_.report(out);
  if (ready_.empty() && !out.empty()) step(out.size());
  const auto count = std::min(out.size(), ready_.size());
  std::copy_n(ready_.begin(), count, out.begin());
  ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(count));
  busy_.store(!ready_.empty(), std::memory_order_relaxed);
  return count;
}

void software_memory::step(std::size_t events) noexcept {
  std::array<event, events_max> some;
  const auto count = inner_->reap(std::span(some).first(std::min(events, some.size())));
  for (const auto& e : std::span(some).first(count)) take(e);
  answer_some();
  advance_puts();
}

void software_memory::take(const event& e) noexcept {
  if (e.kind == event_kind::received) return take_packet(e);
  if (e.kind == event_kind::continued) held_.push_back({.received = e});
  if (e.kind == event_kind::lost) lose(e.peer);
  ready_.push_back(e);
}

void software_memory::take_packet(const event& e) noexcept {
  head what;
  const bool whole = e.bytes.size() >= sizeof what;
  std::memcpy(&what, e.bytes.data(), std::min(sizeof what, e.bytes.size()));
  if (e.bytes.size() >= sizeof what.what && what.what == kind::packet) {
    held_.push_back({.received = e});
    ready_.push_back(e);
    ready_.back().bytes = e.bytes.subspan(sizeof what.what);
    return;
  }
  if (!whole || !serve(e.peer, what, e.bytes.subspan(sizeof what)))
    base::log(base::severity::error, "peer {} sent a packet that is not understood ({} bytes)",
              static_cast<std::uint32_t>(e.peer), e.bytes.size());
  if (held_.empty()) return inner_->release(e);
  held_.push_back({.received = e, .over = true});  // packets are released in their order
}

void software_memory::release(const event&) noexcept {
  if (held_.empty()) return;
  do {
    inner_->release(held_.front().received);
    held_.pop_front();
  } while (!held_.empty() && held_.front().over);
}

bool software_memory::serve(peer_id from, const head& what,
                            std::span<const std::byte> payload) noexcept {
  switch (what.what) {
    case kind::put:
      take_put(from, what, payload);
      return true;
    case kind::get:
    case kind::atomic:
      if (static_cast<std::size_t>(std::ranges::count(requests_, from, &request::from)) >=
          memory_calls::calls_max)
        return false;
      requests_.push_back({.from = from, .what = what});
      return true;
    case kind::refusal:
      if (const auto ended = calls_.refused(from, what.id))
        report_end(from, ended->how, ended->cookie);
      return true;
    case kind::packet:
      break;
  }
  return false;
}

void software_memory::take_put(peer_id from, const head& what,
                               std::span<const std::byte> bytes) noexcept {
  const bool answers = (what.id & memory_calls::answer_bit) != 0;
  const auto id = what.id & ~memory_calls::answer_bit;
  auto& table = answers ? calls_.answers() : exposed_;
  const auto found = table.write(from, id, what.offset, bytes);
  if (found.what != exposures::answer::done) return;
  if (answers) return report_end(from, event_kind::sent, calls_.arrived(found.token, bytes.size()));
  if (exposures::notified(id))
    ready_.push_back(
        {.kind = event_kind::landed, .peer = from, .count = bytes.size(), .cookie = found.token});
}

void software_memory::report_end(peer_id peer, event_kind how,
                                 std::optional<std::uint64_t> cookie) noexcept {
  if (cookie) ready_.push_back({.kind = how, .peer = peer, .cookie = *cookie});
}

/// Requests that the rail does not accept now stay at the front.
void software_memory::answer_some() noexcept {
  for (auto left = requests_.size(); left > 0; --left) {
    request r = requests_.front();
    requests_.pop_front();
    if (answer(r) == post::retry) requests_.push_back(r);
  }
}

/// `retry`: not all of it has left.
post software_memory::answer(request& r) noexcept {
  auto& what = r.what;
  if (what.what == kind::atomic && !std::exchange(r.changed, true)) {
    const remote_place at{.exposed = {.id = what.id}, .offset = what.offset};
    if (exposed_.change(r.from, at, what.change, r.before).what != exposures::answer::done)
      what.what = kind::refusal;
  }
  if (what.what == kind::atomic)
    return send_own(r.from, {.id = what.answer}, std::as_bytes(std::span(&r.before, 1)));
  while (what.what == kind::get && r.answered < what.bytes) {
    const auto piece =
        std::span(piece_).first(std::min<std::uint64_t>(piece_bytes(), what.bytes - r.answered));
    const auto found = exposed_.read(r.from, what.id, what.offset + r.answered, piece);
    if (found.what != exposures::answer::done) {
      what.what = kind::refusal;
      break;
    }
    const auto said = send_own(r.from, {.id = what.answer, .offset = r.answered}, piece);
    if (said != post::done) return said;
    r.answered += piece.size();
  }
  if (what.what != kind::refusal) return post::done;
  return send_own(r.from, {.what = kind::refusal, .id = what.answer});
}

void software_memory::advance_puts() noexcept {
  {
    const base::lock_guard guard(lock_);
    if (puts_.empty()) return;
    advancing_.swap(puts_);
  }
  std::erase_if(advancing_, [&](waiting_put& p) {
    const auto said = send_pieces(p);
    if (said == post::retry) return false;
    report_end(p.peer, said == post::done ? event_kind::sent : event_kind::failed, p.cookie);
    return true;
  });
  const base::lock_guard guard(lock_);
  puts_.splice(puts_.begin(), advancing_);
}

void software_memory::lose(peer_id peer) noexcept {
  std::erase_if(requests_, [&](const request& r) { return r.from == peer; });
  while (const auto cookie = calls_.drop(peer)) report_end(peer, event_kind::failed, cookie);
  std::list<waiting_put> ended;
  {
    const base::lock_guard guard(lock_);
    for (auto next = puts_.begin(); next != puts_.end();) {
      const auto at = next++;
      if (at->peer == peer) ended.splice(ended.end(), puts_, at);
    }
  }
  for (const auto& p : ended) report_end(peer, event_kind::failed, p.cookie);
}

bool software_memory::arm(bool sleeping) noexcept {
  if (sleeping && busy_.load(std::memory_order_relaxed)) return false;
  return inner_->arm(sleeping);
}

// ---- the end ------------------------------------------------------------------------------------

void software_memory::close() noexcept {
  if (closed_.load(std::memory_order_relaxed)) return;
  constexpr std::uint64_t patience_ns = 1'000'000'000;
  const auto until_ns = clock_.now_ns() + patience_ns;
  const auto any_left = [&] {
    const base::lock_guard guard(lock_);
    return !puts_.empty();
  };
  while (any_left() && clock_.now_ns() < until_ns) step(events_max);
  closed_.store(true, std::memory_order_relaxed);
  known_.each([this](const known_peer& peer) { lose(peer.id); });
  inner_->close();
  for (const auto& e : ready_) last_.keep(e);
  ready_.clear();
  std::array<event, events_max> some;
  while (const auto count = inner_->reap(some)) last_.keep(std::span(some).first(count));
}

}  // namespace headway::rails
