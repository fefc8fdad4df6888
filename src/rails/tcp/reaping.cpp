#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/beside.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "rails/tcp/tcp_driver.hpp"

// What `reap` does for tcp_driver: all of it runs on one thread at a time, the reaper.
namespace headway::rails::tcp {
namespace {

// Below, waking once for each arrival is no burden.
constexpr std::size_t low_water_bytes_min = 64 * 1024;

// How long to wait for more of a large payload: about what a wake-up takes, in which a sender on
// the same machine copies some hundred kilobytes (docs/experiments/E16.md).
constexpr std::uint64_t linger_ns = 30'000;
constexpr int relaxes_between_reads = 16;
constexpr unsigned in_vain_max = 6;  // then one in 63 is tried

}  // namespace

std::size_t tcp_driver::reap(std::span<event> out) noexcept {
  if (!open_) [[unlikely]]
    return last_.report(out);
  if (out.empty()) return 0;
  event_sink sink(out);
  report_sent(sink);
  const bool asked = requested_.load(std::memory_order_relaxed) ||  // hints; what they stand for is
                     health_due_.load(std::memory_order_relaxed);   // read under locks or from here
  const bool timed = meeting_->next_deadline_ns() != UINT64_MAX;
  if (asked || timed) look_after_requests(base::now_ns());
  report_losses(sink);
  if (!restored_.empty()) report_restored(sink);
  if (!ready_.empty()) read_ready(sink);

  bool look = ++rounds_ >= rounds_between_looks || woken_.load(std::memory_order_relaxed) ||
              watching_output_.load(std::memory_order_relaxed) > 0 || meeting_->busy();
  if (!look) {
    const auto before = sink.count();
    read_hot(sink);
    look = sink.count() == before &&
           (up_count_ > hot_count_ || asleep_.load(std::memory_order_relaxed));
  }
  if (look) look_at_watch_set(sink);
  if (sink.count() == 0) {
    if (std::exchange(more_follows_, false)) linger(sink);
    if (sink.count() == 0) raise_low_water();
  }
  leave_word(sink);
  return sink.count();
}

/// Tells sleepers-to-be whether there is something left that no descriptor tells of.
void tcp_driver::leave_word(event_sink& out) noexcept {
  if (!sent_.empty()) report_sent(out);
  if (!losing_.empty()) report_losses(out);
  if (!restored_.empty()) report_restored(out);
  const bool left = unfinished();
  if (left == unfinished_.load(std::memory_order_relaxed)) return;  // written here alone
  unfinished_.store(left, std::memory_order_seq_cst);               // (S)
  if (left) ring_if_asleep();
}

bool tcp_driver::unfinished() const noexcept {
  return !ready_.empty() || !losing_.empty() || !sent_.empty() || !restored_.empty();
}

void tcp_driver::look_after_requests(std::uint64_t now_ns) noexcept {
  if (requested_.load(std::memory_order_relaxed)) {
    requested_.store(false, std::memory_order_seq_cst);  // before the list is taken: none is missed
    {
      const std::lock_guard guard(requests_lock_);
      taken_requests_.swap(requests_);
    }
    for (const auto peer : taken_requests_) on_request(peer, now_ns);
    taken_requests_.clear();
  }
  if (now_ns >= meeting_->next_deadline_ns()) meeting_->on_time(now_ns);
  if (health_due_.load(std::memory_order_relaxed)) {
    health_due_.store(false, std::memory_order_seq_cst);
    check_health();
  }
}

void tcp_driver::on_request(std::uint32_t peer, std::uint64_t now_ns) noexcept {
  auto& l = *links_[peer];
  l.lock.lock();
  const auto now = l.now;
  const bool sever = l.sever;
  l.lock.unlock();
  if (sever && now <= link::state::up) {
    if (l.fd) abandon(l.fd.get());
    lose(peer);
  } else if (now == link::state::calling) {
    meeting_->call(peer, now_ns);
  }
}

void tcp_driver::look_at_watch_set(event_sink& out) noexcept {
  rounds_ = 0;
  if (woken_.load(std::memory_order_relaxed)) woken_.store(false, std::memory_order_relaxed);
  std::array<epoll_event, watch_events_max> found;
  const int count = epoll_wait(watch_.fd(), found.data(), watch_events_max, 0);
  std::uint64_t now_ns = 0;
  for (int i = 0; i < count; ++i) {
    const auto& e = found[static_cast<std::size_t>(i)];
    const auto which = which_of(e.data.u64);
    const auto kind = kind_of(e.data.u64);
    if (kind == watch_kind::link) {
      on_link(static_cast<std::uint32_t>(which), e.events, out);
      continue;
    }
    if (now_ns == 0) now_ns = base::now_ns();
    if (kind == watch_kind::bell) {
      std::uint64_t rung = 0;
      (void)!read(bell_.get(), &rung, sizeof rung);
    } else if (kind == watch_kind::listener) {
      meeting_->on_listener(which, now_ns);
    } else {
      meeting_->on_caller(which, now_ns);
    }
  }
}

void tcp_driver::on_link(std::uint32_t peer, std::uint32_t events, event_sink& out) noexcept {
  if (events & EPOLLOUT) write_link(peer);
  if (events & ~static_cast<std::uint32_t>(EPOLLOUT)) read_link(peer, out);
}

// ---- reading ------------------------------------------------------------------------------------

void tcp_driver::read_link(std::uint32_t peer, event_sink& out) noexcept {
  auto& l = *links_[peer];
  if (!l.in || l.now == link::state::early) return;  // `connect` is alone: no lock is needed
  const auto before = out.count();
  const auto state = l.in->read(l.fd.get(), out, budget_bytes);
  if (out.count() != before) {
    touch(peer);
    more_follows_ = l.in->awaited_bytes() != 0;
  }
  switch (state) {
    case input::state::waiting:
      break;
    case input::state::more:
      if (!l.ready) ready_.push_back(peer);
      l.ready = true;
      break;
    case input::state::ended:
    case input::state::broken:
      return end_link(peer, state == input::state::broken);
  }
  lower_low_water(l);
}

void tcp_driver::read_ready(event_sink& out) noexcept {
  ready_now_.swap(ready_);
  for (const auto peer : ready_now_) {
    links_[peer]->ready = false;
    read_link(peer, out);  // may put itself on the list again
  }
  ready_now_.clear();
}

void tcp_driver::read_hot(event_sink& out) noexcept {
  const auto hot = hot_;  // reading moves and removes entries
  const auto count = hot_count_;
  for (std::size_t i = 0; i < count && !out.full(); ++i)
    if (!links_[hot[i]]->ready) read_link(hot[i], out);
}

/// Whoever sleeps between the parts of a payload that a sender on this machine copies in front of
/// him is woken too late each time, and copies behind it what he could have copied beside it. Where
/// parts come slowly it is given up, and tried again from time to time. Not beside a computation,
/// whose processor it would take.
void tcp_driver::linger(event_sink& out) noexcept {
  if (base::runs_beside_computing()) return;
  if (lingers_left_out_ > 0) {
    --lingers_left_out_;
    return;
  }
  const auto peer = hot_[0];
  const auto until_ns = base::now_ns() + linger_ns;
  do {
    for (int i = 0; i < relaxes_between_reads; ++i) base::relax();
    read_link(peer, out);
  } while (out.count() == 0 && hot_count_ > 0 && hot_[0] == peer && base::now_ns() < until_ns);
  lingered_in_vain_ = out.count() > 0 ? 0 : std::min(lingered_in_vain_ + 1, in_vain_max);
  lingers_left_out_ = (1u << lingered_in_vain_) - 1;
}

/// While megabytes come in, a sleeper is woken for many of them at once, and early enough to copy
/// most of the last one beside the sender. Never for more than what is known to follow: the low
/// water is lowered before it could keep the last bytes from being seen. It is raised where nothing
/// came, as before every sleep: a reader who is awake needs none, and each change is a system call.
void tcp_driver::raise_low_water() noexcept {
  for (std::size_t i = 0; i < hot_count_; ++i) {
    auto& l = *links_[hot_[i]];
    const auto awaited = l.in->awaited_bytes();
    if (awaited < low_water_bytes_min) continue;
    const auto wanted = static_cast<int>(
        std::min<std::size_t>(std::max(awaited / 4, low_water_bytes_min),
                              static_cast<std::size_t>(settings_.low_water_bytes)));
    if (wanted == l.low_water) continue;
    l.low_water = wanted;
    set_low_water(l.fd.get(), wanted);
  }
}

void tcp_driver::lower_low_water(link& l) noexcept {
  if (static_cast<std::size_t>(l.low_water) <= std::max<std::size_t>(l.in->awaited_bytes(), 1))
    return;
  l.low_water = 1;
  set_low_water(l.fd.get(), 1);
}

/// The connections that had something last are read without asking epoll.
void tcp_driver::touch(std::uint32_t peer) noexcept {
  if (hot_count_ > 0 && hot_[0] == peer) return;
  const auto end = hot_.begin() + static_cast<std::ptrdiff_t>(hot_count_);
  auto at = std::find(hot_.begin(), end, peer);
  if (at == end) {
    if (hot_count_ < hot_max) ++hot_count_;
    at = hot_.begin() + static_cast<std::ptrdiff_t>(hot_count_) - 1;
  }
  std::move_backward(hot_.begin(), at, at + 1);
  hot_[0] = peer;
}

void tcp_driver::cool(std::uint32_t peer) noexcept {
  const auto end = hot_.begin() + static_cast<std::ptrdiff_t>(hot_count_);
  hot_count_ = static_cast<std::size_t>(std::remove(hot_.begin(), end, peer) - hot_.begin());
}

// ---- writing ------------------------------------------------------------------------------------

void tcp_driver::write_link(std::uint32_t peer) noexcept {
  auto& l = *links_[peer];
  if (!l.lock.try_lock()) return;  // its sender writes now; the watch set will tell again
  const std::lock_guard guard(l.lock, std::adopt_lock);
  if (l.now != link::state::up || l.write_failed) return;
  bool blocked = false;
  for (std::size_t turn = 0; turn < 2 && !blocked && !l.out.empty(); ++turn) {
    cookies done;
    const auto count = write_some(l, done, blocked);
    for (std::size_t i = 0; i < count; ++i) sent_.emplace_back(peer, done[i]);
    if (l.write_failed) return;
  }
  if (l.out.empty()) watch_output(l, peer, false);
}

void tcp_driver::report_sent(event_sink& out) noexcept {
  std::size_t reported = 0;
  for (; reported < sent_.size() && !out.full(); ++reported) {
    const auto& [peer, cookie] = sent_[reported];
    out.put({.kind = event_kind::sent, .peer = peer_id{peer}, .cookie = cookie, .bytes = {}});
  }
  if (reported > 0)
    sent_.erase(sent_.begin(), sent_.begin() + static_cast<std::ptrdiff_t>(reported));
}

void tcp_driver::report_restored(event_sink& out) noexcept {
  while (!restored_.empty() && !out.full()) {
    const auto peer = restored_.back();
    restored_.pop_back();
    // One that is lost again already is reported as that, `restored` or not.
    auto& l = *links_[peer];
    const std::lock_guard guard(l.lock);
    if (l.now == link::state::up)
      out.put({.kind = event_kind::restored, .peer = peer_id{peer}, .bytes = {}});
  }
}

// ---- connections come and go --------------------------------------------------------------------

host::relation tcp_driver::relation_to(std::uint32_t peer) const noexcept {
  auto& l = *links_[peer];
  const std::lock_guard guard(l.lock);
  switch (l.now) {
    case link::state::unknown:
    case link::state::apart:
    case link::state::calling:
      return relation::apart;
    case link::state::early:
    case link::state::up:
      return relation::together;
    default:
      return relation::over;
  }
}

void tcp_driver::connected(std::uint32_t peer, unique_fd fd) noexcept {
  auto& l = *links_[peer];
  l.in = std::make_unique<input>(blocks_, zones_, peer_id{peer});
  l.up_since_ns = base::now_ns();
  bool waiting = false;
  bool revived = false;
  {
    const std::lock_guard guard(l.lock);
    l.fd = std::move(fd);
    const bool known = l.now != link::state::unknown;
    l.now = known ? link::state::up : link::state::early;
    revived = std::exchange(l.revived, false);
    waiting = !l.out.empty();
    l.watching_output = waiting;
    std::uint32_t events = 0;
    if (known) events |= EPOLLIN;
    if (waiting) events |= EPOLLOUT;
    watch_.change(l.fd.get(), events, watch_word(watch_kind::link, peer));
  }
  if (waiting) watching_output_.fetch_add(1, std::memory_order_relaxed);
  ++up_count_;
  if (revived) restored_.push_back(peer);
  touch(peer);
  if (waiting) write_link(peer);
}

void tcp_driver::unreachable(std::uint32_t peer, bool refused) noexcept {
  links_[peer]->refused = refused;
  lose(peer);
}

bool tcp_driver::returning(std::uint32_t peer) const noexcept {
  auto& l = *links_[peer];
  const std::lock_guard guard(l.lock);
  return l.revived;
}

/// It would not call unless it had lost the connection that we still have. A call that was on its
/// way when that one was made is younger than `doubt_ns`.
void tcp_driver::called_again(std::uint32_t peer, std::uint64_t now_ns) noexcept {
  constexpr std::uint64_t doubt_ns = 1'000'000'000;
  auto& l = *links_[peer];
  l.lock.lock();
  const bool early = l.now == link::state::early;
  l.lock.unlock();
  if (early || now_ns < l.up_since_ns + doubt_ns) return;
  base::log(base::severity::info, "{}: rank {} calls again: the old connection is lost", name_,
            peer);
  lose(peer);
}

void tcp_driver::check_health() noexcept {
  for (std::uint32_t peer = 0; peer < links_.size(); ++peer) {
    if (!links_[peer] || !links_[peer]->in) continue;
    if (!gone_silent(links_[peer]->fd.get(), settings_.dead_ns)) continue;
    base::log(base::severity::warning, "{}: the machine of rank {} does not answer any more", name_,
              peer);
    lose(peer);
  }
}

void tcp_driver::end_link(std::uint32_t peer, bool broken) noexcept {
  auto& l = *links_[peer];
  if (broken) {
    base::log(base::severity::error, "{}: rank {} breaks the format of frames: connection closed",
              name_, peer);
    return lose(peer);
  }
  if (l.in->said_goodbye()) return drop_link(peer, link::state::leaving);
  base::log(base::severity::info, "{}: connection to rank {} lost", name_, peer);
  lose(peer);
}

void tcp_driver::lose(std::uint32_t peer) noexcept { drop_link(peer, link::state::losing); }

void tcp_driver::drop_link(std::uint32_t peer, link::state how) noexcept {
  auto& l = *links_[peer];
  {
    const std::lock_guard guard(l.lock);
    if (l.now > link::state::up) return;  // already
    if (l.watching_output) watching_output_.fetch_sub(1, std::memory_order_relaxed);
    l.watching_output = false;
    l.now = how;
    l.sever = false;
    l.revived = false;
    l.fd.reset();  // closing takes it out of the watch set
  }
  l.low_water = 1;
  meeting_->stop_calling(peer);
  if (l.in) {
    --up_count_;
    cool(peer);
    l.in.reset();
  }
  losing_.push_back(peer);
}

void tcp_driver::report_losses(event_sink& out) noexcept {
  while (!losing_.empty() && !out.full()) {
    const auto peer = losing_.back();
    auto& l = *links_[peer];
    const std::lock_guard guard(l.lock);
    if (const auto cookie = l.out.drop()) {
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
    losing_.pop_back();
  }
}

}  // namespace headway::rails::tcp
