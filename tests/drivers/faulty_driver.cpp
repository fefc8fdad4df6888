#include "tests/drivers/faulty_driver.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>

#include "base/assert.hpp"
#include "rails/exposures.hpp"

namespace headway::rails::faulty {

faulty_driver::faulty_driver(std::unique_ptr<driver> inner, const plan& p)
    : inner_(std::move(inner)), plan_(p), random_(p.seed * 2 + 1) {}

faulty_driver::~faulty_driver() {
  close();
  if (watch_ >= 0) ::close(watch_);
  if (bell_ >= 0) ::close(bell_);
}

limits faulty_driver::query() const noexcept {
  auto l = inner_->query();
  if (!name_.empty()) l.name = name_.c_str();
  return l;
}

base::result<std::vector<std::byte>> faulty_driver::open() {
  auto address = inner_->open();
  if (!address) return address;
  name_ = fmt::format("faulty({})", inner_->query().name);
  if (inner_->descriptor() < 0) return address;
  watch_ = epoll_create1(EPOLL_CLOEXEC);
  bell_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  epoll_event e{.events = EPOLLIN, .data = {}};
  if (watch_ < 0 || bell_ < 0 || epoll_ctl(watch_, EPOLL_CTL_ADD, bell_, &e) != 0 ||
      epoll_ctl(watch_, EPOLL_CTL_ADD, inner_->descriptor(), &e) != 0)
    return base::failed_errno("epoll", errno);
  return address;
}

// ---- chance -------------------------------------------------------------------------------------

/// Marsaglia's xorshift*: small, and the same everywhere.
std::uint32_t faulty_driver::draw() noexcept {
  random_ ^= random_ >> 12;
  random_ ^= random_ << 25;
  random_ ^= random_ >> 27;
  return static_cast<std::uint32_t>((random_ * 0x2545f4914f6cdd1d) >> 32);
}

bool faulty_driver::happens(std::uint32_t one_in) noexcept {
  return one_in > 0 && draw() % one_in == 0;
}

bool faulty_driver::dead(peer_id peer) const noexcept {
  return std::ranges::find(dead_, peer) != dead_.end();
}

bool faulty_driver::muted(peer_id peer) const noexcept {
  return std::ranges::find(muted_, peer) != muted_.end();
}

void faulty_driver::declare_dead(peer_id peer, std::uint64_t count) noexcept {
  std::erase(muted_, peer);
  if (dead(peer)) return;
  dead_.push_back(peer);
  held_.push_back({.kind = event_kind::lost, .peer = peer, .count = count, .bytes = {}});
}

void faulty_driver::mute(peer_id peer) noexcept {
  const std::lock_guard guard(lock_);
  if (!muted(peer)) muted_.push_back(peer);
}

/// While a rail is mute, acknowledgements of the peer's kernel are no activity.
std::uint64_t faulty_driver::last_activity_ns(peer_id peer) noexcept {
  {
    const std::lock_guard guard(lock_);
    if (muted(peer)) return 0;
  }
  return inner_->health()->last_activity_ns(peer);
}

/// Taken, and never sent.
post faulty_driver::drop(peer_id peer, const offer& what) noexcept {
  if (!what.may_be_posted) return post::done;
  parcels_.push_back({.peer = peer, .cookie = what.cookie, .taken = true});
  return post::posted;
}

void faulty_driver::kill(peer_id peer) noexcept {
  {
    const std::lock_guard guard(lock_);
    declare_dead(peer);
  }
  wake();
}

void faulty_driver::wake() noexcept {
  waiting_.store(true, std::memory_order_seq_cst);                    // (S)
  if (bell_ < 0 || !asleep_.load(std::memory_order_seq_cst)) return;  // (S)
  const std::uint64_t one = 1;
  (void)!write(bell_, &one, sizeof one);
}

// ---- sending ------------------------------------------------------------------------------------

void faulty_driver::forget(peer_id peer, std::uint64_t cookie) noexcept {
  const auto found = std::ranges::find_if(
      parcels_, [&](const parcel& p) { return p.peer == peer && p.cookie == cookie && !p.taken; });
  if (found != parcels_.end()) parcels_.erase(found);
}

post faulty_driver::send_or_fail(peer_id peer, const offer& what,
                                 const std::function<post()>& start) noexcept {
  bool told_to_wait = false;
  bool cut = false;
  {
    const std::lock_guard guard(lock_);
    if (happens(plan_.kill_one_in)) declare_dead(peer);
    if (happens(plan_.mute_one_in) && !muted(peer)) muted_.push_back(peer);
    cut = happens(plan_.cut_one_in);
    if (dead(peer)) {
      waiting_.store(true, std::memory_order_seq_cst);  // `lost` may have to be reported
      return post::down;
    }
    told_to_wait = happens(plan_.retry_one_in) || (muted(peer) && !what.may_be_lost);
    if (!told_to_wait && muted(peer)) {
      waiting_.store(true, std::memory_order_seq_cst);  // `sent` may have to be reported
      return drop(peer, what);
    }
    // Before it is sent: its event may be reaped before `start` returns.
    if (!told_to_wait) parcels_.push_back({.peer = peer, .cookie = what.cookie});
  }
  if (told_to_wait) {
    wake();  // a thread that got `retry` and sleeps has to be woken
    return post::retry;
  }
  const post said = start();
  if (cut) sever(peer);
  if (said == post::posted) return said;
  {
    const std::lock_guard guard(lock_);
    forget(peer, what.cookie);
    if (said != post::done || !what.may_be_posted || !happens(plan_.posted_one_in)) return said;
    parcels_.push_back({.peer = peer, .cookie = what.cookie, .taken = true});
  }
  wake();
  return post::posted;
}

post faulty_driver::send(peer_id peer, const packet& what) noexcept {
  const bool may_be_posted = what.payload.size() > inner_->query().inline_bytes_max;
  return send_or_fail(peer, {what.cookie, may_be_posted}, [&] { return inner_->send(peer, what); });
}

memory_limits faulty_driver::limits_to(peer_id peer) const noexcept {
  return inner_->memory()->limits_to(peer);
}

/// A direct operation ends at once: no event of it can be late.
bool faulty_driver::is_direct(peer_id peer) noexcept {
  const std::lock_guard guard(lock_);
  return limits_to(peer).direct && !dead(peer);
}

post faulty_driver::put(peer_id peer, const remote_place& to, std::span<const std::byte> from,
                        std::uint64_t cookie) noexcept {
  const auto start = [&] { return inner_->memory()->put(peer, to, from, cookie); };
  if (!exposures::notified(to.exposed.id) && is_direct(peer)) return start();
  return send_or_fail(peer, {cookie, !from.empty()}, start);
}

post faulty_driver::get(peer_id peer, const remote_place& from, std::span<std::byte> to,
                        std::uint64_t cookie) noexcept {
  const auto start = [&] { return inner_->memory()->get(peer, from, to, cookie); };
  return is_direct(peer) ? start() : send_or_fail(peer, {cookie, true, false}, start);
}

post faulty_driver::atomic(peer_id peer, const remote_place& at, const atomic_request& what,
                           std::uint64_t& before, std::uint64_t cookie) noexcept {
  return send_or_fail(peer, {cookie, true, false},
                      [&] { return inner_->memory()->atomic(peer, at, what, before, cookie); });
}

post faulty_driver::flush(peer_id peer, std::uint64_t cookie) noexcept {
  return send_or_fail(peer, {cookie, true, false},
                      [&] { return inner_->memory()->flush(peer, cookie); });
}

// ---- reaping ------------------------------------------------------------------------------------

std::size_t faulty_driver::reap(std::span<event> out) noexcept {
  if (out.empty()) return 0;
  {
    const std::lock_guard guard(lock_);
    if (late_reaps_ == 0 && !closed_ && happens(plan_.late_one_in))
      late_reaps_ = 1 + draw() % std::max(1u, plan_.late_reaps_max);
  }
  if (late_reaps_ > 0) return --late_reaps_, 0;
  if (bell_ >= 0 && waiting_.load(std::memory_order_relaxed)) {
    std::uint64_t rung = 0;
    (void)!read(bell_, &rung, sizeof rung);
  }
  waiting_.store(false,
                 std::memory_order_seq_cst);  // before reading: a later event sets it again
  take_in();
  std::size_t count = 0;
  bool more = false;
  {
    const std::lock_guard guard(lock_);
    deliver_late();
    count = std::min(out.size(), held_.size());
    std::copy_n(held_.begin(), count, out.begin());
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(count));
    more = !held_.empty() || std::ranges::any_of(parcels_, &parcel::taken);
  }
  if (more) wake();
  return count;
}

void faulty_driver::take_in() noexcept {
  std::array<event, 32> batch;
  lock_.lock();
  const auto room = held_.size() < held_max ? held_max - held_.size() : 0;
  lock_.unlock();
  const auto count = inner_->reap(std::span(batch).first(std::min(batch.size(), room)));
  {
    const std::lock_guard guard(lock_);
    for (std::size_t i = 0; i < count; ++i) hold(batch[i]);
  }
  release_dropped();
}

void faulty_driver::hold(const event& e) noexcept {
  event told = e;
  const bool gone = dead(e.peer) || muted(e.peer);
  switch (e.kind) {
    case event_kind::received:
    case event_kind::continued:
      loans_.push_back({.what = e, .dropped = gone});
      if (gone) return;
      break;
    case event_kind::landed:
      if (gone) return;
      break;
    case event_kind::sent:
    case event_kind::failed:
      forget(e.peer, e.cookie);
      if (dead(e.peer)) told.kind = event_kind::failed;
      break;
    case event_kind::lost:
      return declare_dead(e.peer, e.count);
    case event_kind::restored:
      std::erase(dead_, e.peer);
      break;
    case event_kind::called:
      break;
  }
  held_.push_back(told);
}

/// Reports `sent` for packets that were taken earlier: for about half of them now.
void faulty_driver::deliver_late() noexcept {
  std::erase_if(parcels_, [&](const parcel& p) {
    if (!p.taken || (!closed_ && !happens(2))) return false;
    held_.push_back({.kind = event_kind::sent, .peer = p.peer, .cookie = p.cookie});
    return true;
  });
}

void faulty_driver::release_dropped() noexcept {
  while (!loans_.empty() && loans_.front().dropped) {
    inner_->release(loans_.front().what);
    loans_.pop_front();
  }
}

void faulty_driver::release(const event& received) noexcept {
  HEADWAY_ASSERT(!loans_.empty() && loans_.front().what.bytes.data() == received.bytes.data());
  inner_->release(loans_.front().what);
  loans_.pop_front();
  release_dropped();
}

bool faulty_driver::arm(bool sleeping) noexcept {
  asleep_.store(sleeping, std::memory_order_seq_cst);  // (S)
  const bool quiet = inner_->arm(sleeping);
  return quiet && (!sleeping || !waiting_.load(std::memory_order_seq_cst));  // (S)
}

/// Drops events that were not reported yet: the inner driver accepts no release any more.
void faulty_driver::close() noexcept {
  if (closed_) return;
  closed_ = true;
  late_reaps_ = 0;
  for (auto& l : loans_) l.dropped = true;
  release_dropped();
  {
    const std::lock_guard guard(lock_);
    std::erase_if(held_, [](const event& e) {
      return e.kind != event_kind::sent && e.kind != event_kind::failed;
    });
  }
  inner_->close();
}

}  // namespace headway::rails::faulty
