#include "rails/tcp/tcp_driver.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sodium.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"

namespace headway::rails::tcp {
namespace {

// Up to here one copy into one buffer is cheaper than a gather list.
constexpr std::size_t flat_bytes_max = 2048;
constexpr std::uint64_t linger_ns = 1'000'000'000;
constexpr int linger_nap_ms = 1;
// Beyond one for each connection: what the upper rooms hold without releasing it.
constexpr std::size_t spare_blocks = 256;

ssize_t write_flat(int fd, const packet& p, const frame_image& f, std::size_t whole) noexcept {
  std::array<std::byte, flat_bytes_max> flat;
  auto* at = flat.data();
  std::memcpy(at, f.data(), f.size());
  at += f.size();
  if (!p.header.empty()) std::memcpy(at, p.header.data(), p.header.size());
  at += p.header.size();
  if (!p.payload.empty()) std::memcpy(at, p.payload.data(), p.payload.size());
  at += p.payload.size();
  std::memset(at, 0, static_cast<std::size_t>(flat.data() + whole - at));
  return ::send(fd, flat.data(), whole, MSG_NOSIGNAL | MSG_DONTWAIT);
}

iovec part(std::span<const std::byte> bytes) noexcept {
  return {.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
}

ssize_t write_gathered(int fd, const packet& p, const frame_image& f,
                       std::size_t padding) noexcept {
  static constexpr std::array<std::byte, 8> zeros{};
  iovec parts[4] = {part(f), part(p.header), part(p.payload),
                    part(std::span(zeros).first(padding))};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 4;
  return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool try_later(int error) noexcept {
  return error == EAGAIN || error == EINTR || error == ENOBUFS || error == ENOMEM;
}

std::string name_of(const config& c) {
  const auto name =
      fmt::format("tcp:{}", c.interfaces.empty() ? "none" : c.interfaces.front().name);
  return c.number == 1 ? name : fmt::format("{}#{}", name, c.number);
}

}  // namespace

tcp_driver::tcp_driver(config c)
    : config_(std::move(c)),
      settings_(config_.how ? *config_.how : settings::from_environment()),
      name_(name_of(config_)),
      blocks_(spare_blocks + config_.size) {}

limits tcp_driver::query() const noexcept {
  return {.name = name_.c_str(),
          .header_bytes_max = tcp::header_bytes_max,
          .eager_bytes_max = tcp::eager_bytes_max,
          .inline_bytes_max = inline_bytes_max,
          .poll_cost_ns = 300,
          .latency_ns = 5000,
          .poll_period_ns = 5'000,
          .wakes = true,
          .severable = true};
}

base::result<std::vector<std::byte>> tcp_driver::open() {
  HEADWAY_ASSERT(!open_ && config_.rank < config_.size);
  if (sodium_init() < 0) return base::failed(base::fault_kind::system, "libsodium does not start");
  credentials_ = credentials::make(config_.secret, config_.job_id, config_.rank, config_.size);
  loopback_key_ = loopback_key();
  if (auto made = watch_.open(); !made) return std::unexpected(std::move(made).error());
  bell_ = unique_fd(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!bell_) return base::failed_errno("eventfd", errno);
  if (!watch_.add(bell_.get(), EPOLLIN, watch_word(watch_kind::bell, 0)))
    return base::failed_errno("epoll_ctl", errno);

  meeting_ = std::make_unique<meeting>(static_cast<host&>(*this), watch_, credentials_, settings_);
  auto endpoints = meeting_->open(config_.interfaces);
  if (!endpoints) return std::unexpected(std::move(endpoints).error());
  links_.resize(config_.size);
  for (std::uint32_t i = 0; i < config_.size; ++i)
    if (i != config_.rank) links_[i] = std::make_unique<link>(settings_.segment_bytes);
  for (auto* list : {&requests_, &taken_requests_, &ready_, &ready_now_, &losing_, &restored_})
    list->reserve(2 * std::size_t{config_.size});
  sent_.reserve(output::entry_count);
  open_ = true;
  return address{.loopback_key = loopback_key_, .endpoints = std::move(*endpoints)}.encode();
}

base::result<> tcp_driver::connect(peer_id peer, std::span<const std::byte> bytes) {
  const auto rank = static_cast<std::uint32_t>(peer);
  HEADWAY_ASSERT(open_);
  if (rank >= config_.size)
    return base::failed(base::fault_kind::bad_input,
                        fmt::format("tcp: there is no rank {} in a job of {}", rank, config_.size));
  if (rank == config_.rank)
    return base::failed(base::fault_kind::unsupported, "tcp: a process does not call itself");
  const auto theirs = address::decode(bytes);
  if (!theirs)
    return base::failed(base::fault_kind::bad_input,
                        fmt::format("tcp: the address of rank {} makes no sense", rank));
  auto routes = routes_to(*theirs, config_.interfaces, loopback_key_);
  if (routes.empty())
    return base::failed(
        base::fault_kind::unsupported,
        fmt::format("tcp: no interface of {} reaches rank {} at {}", name_, rank,
                    theirs->endpoints.empty() ? "no address" : theirs->endpoints[0].text()));
  meeting_->know(rank, std::move(routes));
  auto& l = *links_[rank];
  const std::lock_guard guard(l.lock);
  if (l.now == link::state::unknown) l.now = link::state::apart;
  if (l.now == link::state::early) {  // it called before it was known: listen to it from now on
    l.now = link::state::up;
    watch_.change(l.fd.get(), EPOLLIN, watch_word(watch_kind::link, rank));
  }
  return {};
}

// ---- sending ------------------------------------------------------------------------------------

post tcp_driver::send(peer_id peer, const packet& what) noexcept {
  const auto rank = static_cast<std::uint32_t>(peer);
  if (rank >= links_.size() || !links_[rank]) return post::down;
  auto& l = *links_[rank];
  const std::lock_guard guard(l.lock);
  switch (l.now) {
    case link::state::up:
      if (l.write_failed) return post::down;
      break;
    case link::state::apart:
      l.now = link::state::calling;
      ask_reaper(rank);
      break;
    case link::state::calling:
      break;
    case link::state::unknown:
    case link::state::early:
    case link::state::leaving:
    case link::state::left:
    case link::state::losing:
    case link::state::lost:
      return post::down;
  }
  return what.landing == landing_id::none ? send_plain(l, rank, what) : send_piece(l, rank, what);
}

post tcp_driver::send_plain(link& l, std::uint32_t peer, const packet& p) noexcept {
  HEADWAY_DEBUG_ASSERT(p.header.size() <= tcp::header_bytes_max &&
                       p.payload.size() <= tcp::eager_bytes_max);
  if (l.now != link::state::up || !l.out.empty()) return queue_plain(l, peer, p, 0);
  const auto content = p.header.size() + p.payload.size();
  const auto padding = padding_of(content);
  const auto whole = frame_bytes + content + padding;
  const auto f = encode({.kind = frame_kind::plain,
                         .header_bytes = static_cast<std::uint16_t>(p.header.size()),
                         .payload_bytes = static_cast<std::uint32_t>(p.payload.size())});
  const auto wrote = whole <= flat_bytes_max ? write_flat(l.fd.get(), p, f, whole)
                                             : write_gathered(l.fd.get(), p, f, padding);
  if (wrote == static_cast<ssize_t>(whole)) return post::done;
  if (wrote < 0 && !try_later(errno)) {
    write_failed(l);
    return post::down;
  }
  return queue_plain(l, peer, p, wrote < 0 ? 0 : static_cast<std::size_t>(wrote));
}

/// An empty queue takes every packet: one that has gone out in part is never refused.
post tcp_driver::queue_plain(link& l, std::uint32_t peer, const packet& p,
                             std::size_t sent) noexcept {
  const bool copy = p.payload.size() <= inline_bytes_max;
  if (sent == 0 && p.alone && l.out.plain_waits()) return post::retry;
  if (!l.out.take_plain(p, sent, copy)) {
    if (sent == 0) return post::retry;
    write_failed(l);  // no memory for the rest of a frame that has begun
    return post::down;
  }
  if (l.now == link::state::up) watch_output(l, peer, true);
  return copy ? post::done : post::posted;
}

post tcp_driver::send_piece(link& l, std::uint32_t peer, const packet& p) noexcept {
  HEADWAY_DEBUG_ASSERT(p.header.empty());
  if (p.payload.empty()) return post::done;  // nothing lands
  const bool first = l.out.empty();
  if (!l.out.take_piece(p)) return post::retry;
  if (l.now != link::state::up) return post::posted;
  if (first) {
    cookies done;
    bool blocked = false;
    const auto count = write_some(l, done, blocked);
    if (count > 0) return post::done;
    if (l.write_failed) return post::posted;  // the reaper reports it as failed
  }
  watch_output(l, peer, true);
  return post::posted;
}

/// Hands the kernel what one call takes. Returns how many payloads are free now.
std::size_t tcp_driver::write_some(link& l, cookies& done, bool& blocked) noexcept {
  std::array<iovec, output::vectors_max> vectors;
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = l.out.gather(vectors);
  std::size_t wanted = 0;
  for (std::size_t i = 0; i < message.msg_iovlen; ++i) wanted += vectors[i].iov_len;
  const auto wrote = sendmsg(l.fd.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  blocked = wrote < static_cast<ssize_t>(wanted);
  if (wrote > 0) return l.out.advance(static_cast<std::size_t>(wrote), done);
  if (wrote < 0 && !try_later(errno)) write_failed(l);
  return 0;
}

/// What has arrived may still be read, then the reaper sees the end of the connection.
void tcp_driver::write_failed(link& l) noexcept {
  l.write_failed = true;
  shutdown(l.fd.get(), SHUT_RDWR);
}

void tcp_driver::watch_output(link& l, std::uint32_t peer, bool on) noexcept {
  if (l.watching_output == on) return;
  l.watching_output = on;
  watching_output_.fetch_add(on ? 1 : -1, std::memory_order_relaxed);
  watch_.change(l.fd.get(), on ? EPOLLIN | EPOLLOUT : EPOLLIN, watch_word(watch_kind::link, peer));
}

void tcp_driver::ask_reaper(std::uint32_t peer) noexcept {
  {
    const std::lock_guard guard(requests_lock_);
    if (requests_.size() < requests_.capacity()) requests_.push_back(peer);
  }
  requested_.store(true, std::memory_order_seq_cst);  // (S)
  ring_if_asleep();
}

void tcp_driver::ring_if_asleep() noexcept {
  if (!asleep_.load(std::memory_order_seq_cst)) return;  // (S)
  const std::uint64_t one = 1;
  (void)!write(bell_.get(), &one, sizeof one);  // full: it rings already
}

// ---- landing, sleeping --------------------------------------------------------------------------

bool tcp_driver::land(peer_id peer, landing_id id, std::span<std::byte> target) noexcept {
  return zones_.open(peer, id, target);
}

void tcp_driver::release(const event& received) noexcept {
  auto& b = *reinterpret_cast<block*>(received.driver_word);
  HEADWAY_DEBUG_ASSERT(b.unreleased > 0);
  --b.unreleased;
  blocks_.settle(b);
}

bool tcp_driver::arm(bool sleeping) noexcept {
  asleep_.store(sleeping, std::memory_order_seq_cst);  // (S)
  if (!sleeping) {
    woken_.store(true, std::memory_order_relaxed);
    return true;
  }
  // The kernel's side needs no arming: the watch set is level-triggered.
  return !unfinished_.load(std::memory_order_seq_cst) &&  // (S)
         !requested_.load(std::memory_order_seq_cst) &&   // (S)
         !health_due_.load(std::memory_order_seq_cst);    // (S)
}

void tcp_driver::tick(std::uint64_t now_ns) noexcept {
  constexpr std::uint64_t health_period_ns = 1'000'000'000;
  auto last = checked_ns_.load(std::memory_order_relaxed);
  const bool due = now_ns - last >= health_period_ns &&
                   checked_ns_.compare_exchange_strong(last, now_ns, std::memory_order_relaxed);
  if (due && settings_.dead_ns > 0) {
    health_due_.store(true, std::memory_order_seq_cst);  // (S)
    ring_if_asleep();
  } else if (meeting_ && now_ns >= meeting_->next_deadline_ns()) {
    ring_if_asleep();
  }
}

// ---- giving up, and trying again ----------------------------------------------------------------

void tcp_driver::sever(peer_id peer) noexcept {
  const auto rank = static_cast<std::uint32_t>(peer);
  if (rank >= links_.size() || !links_[rank]) return;
  auto& l = *links_[rank];
  {
    const std::lock_guard guard(l.lock);
    if (l.now > link::state::up) return;
    l.sever = true;
  }
  ask_reaper(rank);
}

void tcp_driver::revive(peer_id peer) noexcept {
  const auto rank = static_cast<std::uint32_t>(peer);
  if (rank >= links_.size() || !links_[rank]) return;
  auto& l = *links_[rank];
  {
    const std::lock_guard guard(l.lock);
    if (l.now != link::state::lost) return;
    l.now = link::state::calling;
    l.revived = true;
    l.sever = false;
    l.write_failed = false;
  }
  ask_reaper(rank);
}

std::uint64_t tcp_driver::heard_ns(peer_id peer) noexcept {
  const auto rank = static_cast<std::uint32_t>(peer);
  if (rank >= links_.size() || !links_[rank]) return 0;
  auto& l = *links_[rank];
  const std::lock_guard guard(l.lock);
  if (l.now != link::state::up) return 0;
  const auto silence = silence_ns(l.fd.get());
  const auto now_ns = base::now_ns();
  return silence < now_ns ? now_ns - silence : 0;
}

// ---- closing ------------------------------------------------------------------------------------

bool tcp_driver::all_said() noexcept {
  bool all = true;
  for (std::uint32_t peer = 0; peer < links_.size(); ++peer) {
    if (!links_[peer]) continue;
    auto& l = *links_[peer];
    const std::lock_guard guard(l.lock);
    if (l.now == link::state::calling && !l.revived) all = false;
    if ((l.now != link::state::up && l.now != link::state::early) || l.write_failed) continue;
    if (l.out.empty() && !l.goodbye_said) {
      l.goodbye_said = l.out.take_goodbye();
      cookies none;
      bool blocked = false;
      (void)write_some(l, none, blocked);
      if (!l.out.empty()) {
        watch_output(l, peer, true);
      } else if (!l.write_failed) {
        shutdown(l.fd.get(), SHUT_WR);
      }
    }
    if (!l.out.empty() || unacknowledged_bytes(l.fd.get()) > 0) all = false;
  }
  return all;
}

void tcp_driver::close() noexcept {
  if (!open_) return;
  const auto deadline_ns = base::now_ns() + linger_ns;
  woken_.store(true, std::memory_order_relaxed);
  while (true) {
    std::array<event, 64> late;
    const auto count = reap(late);
    last_.keep(std::span(late).first(count));
    for (std::size_t i = 0; i < count; ++i)
      if (late[i].kind == event_kind::received) release(late[i]);
    if (all_said() || base::now_ns() >= deadline_ns) break;
    if (count > 0) continue;
    woken_.store(true, std::memory_order_relaxed);
    pollfd nap{.fd = watch_.fd(), .events = POLLIN, .revents = 0};
    (void)poll(&nap, 1, linger_nap_ms);
  }
  open_ = false;
  meeting_->close();
  for (const auto& [peer, cookie] : sent_)
    last_.keep({.kind = event_kind::sent, .peer = peer_id{peer}, .cookie = cookie, .bytes = {}});
  for (std::uint32_t peer = 0; peer < links_.size(); ++peer) {
    if (!links_[peer]) continue;
    auto& l = *links_[peer];
    const std::lock_guard guard(l.lock);
    l.now = link::state::lost;
    l.in.reset();
    l.fd.reset();
    while (const auto cookie = l.out.drop())
      last_.keep(
          {.kind = event_kind::failed, .peer = peer_id{peer}, .cookie = *cookie, .bytes = {}});
    l.out.clear();
  }
  watch_.close();
  bell_.reset();
}

}  // namespace headway::rails::tcp
