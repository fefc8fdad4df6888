#include "rails/tcp/tcp_driver.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sodium.h>
#include <sys/epoll.h>

#include <cerrno>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/lock_guard.hpp"

namespace headway::rails::tcp {
namespace {

constexpr std::uint64_t linger_ns = 1'000'000'000;
constexpr int linger_nap_ms = 1;

std::string name_of(const config& c) {
  const auto name =
      fmt::format("tcp:{}", c.interfaces.empty() ? "none" : c.interfaces.front().name);
  return c.number == 1 ? name : fmt::format("{}#{}", name, c.number);
}

}  // namespace

tcp_driver::tcp_driver(config c)
    : config_(std::move(c)),
      shared_(config_.how, name_of(config_), *config_.known, config_.clock) {}

limits tcp_driver::query() const noexcept {
  return {.name = shared_.name.c_str(),
          .header_bytes_max = tcp::header_bytes_max,
          .eager_bytes_max = tcp::eager_bytes_max,
          .inline_bytes_max = link_writer::inline_bytes_max,
          .poll_cost_ns = 300,
          .latency_ns = 5000,
          .poll_period_ns = 5'000,
          .wakes = true,
          .queues = true,
          .lent_bytes_min = shared_.how.resume ? sent_log::lent_min : SIZE_MAX};
}

base::result<std::vector<std::byte>> tcp_driver::open() {
  HEADWAY_ASSERT(!open_);
  if (sodium_init() < 0) return base::failed(base::fault_kind::system, "libsodium does not start");
  credentials_ = {.secret = config_.secret,
                  .self = config_.known->at(config_.me),
                  .encrypts = config_.how.encryption,
                  .others = config_.others};
  loopback_key_ = loopback_key();
  if (auto made = shared_.watch.open(); !made) return std::unexpected(std::move(made).error());
  auto woken = shared_.wake.open(shared_.watch, watch_word(watch_kind::bell, 0));
  if (!woken) return std::unexpected(std::move(woken).error());
  reaper_.emplace(shared_, credentials_);
  auto endpoints = reaper_->open(config_.interfaces);
  if (!endpoints) return std::unexpected(std::move(endpoints).error());
  open_ = true;
  return address{.loopback_key = loopback_key_, .endpoints = std::move(*endpoints)}.encode();
}

base::result<> tcp_driver::connect(peer_id peer, std::span<const std::byte> bytes) {
  HEADWAY_ASSERT(open_);
  const auto number = static_cast<std::uint32_t>(peer);
  if (peer == config_.me)
    return base::failed(base::fault_kind::unsupported, "tcp: a process does not call itself");
  if (!credentials_.key_for(config_.known->at(peer).job))
    return base::failed(base::fault_kind::unsupported,
                        fmt::format("tcp: peer {} is of a job that is not known here", number));
  const auto theirs = address::decode(bytes);
  if (!theirs)
    return base::failed(base::fault_kind::bad_input,
                        fmt::format("tcp: the address of peer {} makes no sense", number));
  auto routes = routes_to(*theirs, config_.interfaces, loopback_key_);
  if (routes.empty())
    return base::failed(
        base::fault_kind::unsupported,
        fmt::format("tcp: no interface of {} reaches peer {} at {}", shared_.name, number,
                    theirs->endpoints.empty() ? "no address" : theirs->endpoints[0].text()));
  auto& l = shared_.links.meet(number);
  const base::lock_guard guard(l.lock);
  if (l.known.load(std::memory_order_relaxed))  // written only here
    return base::failed(base::fault_kind::bad_input,
                        fmt::format("tcp: peer {} is connected already", number));
  l.routes.swap(routes);
  l.known.store(true, std::memory_order_release);  // (K)
  // The peer has called before: its connection is read from now on.
  if (l.now == link::state::up &&
      !shared_.watch.change(l.fd.get(), l.watching_output ? EPOLLIN | EPOLLOUT : EPOLLIN,
                            watch_word(watch_kind::link, number)))
    shared_.writer.fail(l, errno);  // the end of a connection is reported all the same
  return {};
}

post tcp_driver::send(peer_id peer, const packet& what) noexcept {
  auto* const l = shared_.links.find(peer);
  if (!l) return post::down;
  const base::lock_guard guard(l->lock);
  if (!ready_to_write(*l, shared_.wake)) return post::down;
  return shared_.writer.send(*l, l->peer, what);
}

void tcp_driver::reclaim(peer_id peer) noexcept {
  auto* const l = shared_.links.find(peer);
  if (!l) return;
  const base::lock_guard guard(l->lock);
  l->log.reclaim();
}

std::size_t tcp_driver::reap(std::span<event> out) noexcept {
  if (!open_) [[unlikely]]
    return last_.report(out);
  return out.empty() ? 0 : reaper_->reap(out);
}

void tcp_driver::tick(std::uint64_t now_ns) noexcept {
  constexpr std::uint64_t health_period_ns = 1'000'000'000;
  auto last = checked_ns_.load(std::memory_order_relaxed);
  const bool due = now_ns - last >= health_period_ns &&
                   checked_ns_.compare_exchange_strong(last, now_ns, std::memory_order_relaxed);
  if (due) {
    shared_.wake.request_health_check();
  } else if (reaper_ && now_ns >= reaper_->next_deadline_ns()) {
    shared_.wake.ring_if_asleep();
  }
}

void tcp_driver::close() noexcept {
  if (!open_) return;
  const auto deadline_ns = base::machine_now_ns() + linger_ns;
  shared_.wake.set_woken();
  while (true) {
    std::array<event, 64> late;
    const auto count = reap(late);
    last_.keep(std::span(late).first(count));
    for (std::size_t i = 0; i < count; ++i)
      if (late[i].kind == event_kind::received) release(late[i]);
    if (reaper_->finish_sending() || base::machine_now_ns() >= deadline_ns) break;
    if (count > 0) continue;
    shared_.wake.set_woken();
    pollfd nap{.fd = shared_.watch.fd(), .events = POLLIN, .revents = 0};
    (void)poll(&nap, 1, linger_nap_ms);
  }
  open_ = false;
  reaper_->close(last_);
  shared_.watch.close();
  shared_.wake.close();
}

}  // namespace headway::rails::tcp
