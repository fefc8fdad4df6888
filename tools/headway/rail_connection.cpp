#include "tools/headway/rail_connection.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <array>

#include "base/clock.hpp"

namespace headway::tool {
namespace {

constexpr std::uint64_t tick_ns = 100'000'000;

}  // namespace

rail_connection::rail_connection(std::span<rails::driver* const> rails, rails::peer_id other,
                                 std::uint64_t patience_ns)
    : rails_(rails), other_(other), patience_ns_(patience_ns) {}

std::unexpected<base::fault> rail_connection::failed(base::fault_kind kind,
                                                     const char* what) const {
  return base::failed(kind, fmt::format("{}: {}", rails_[0]->query().name, what));
}

std::unexpected<base::fault> rail_connection::refuse() const {
  return failed(base::fault_kind::refused, "the other end sent a packet of the wrong kind");
}

std::size_t rail_connection::pump() {
  std::size_t all = 0;
  for (auto* rail : rails_) all += pump(*rail);
  return all;
}

std::size_t rail_connection::pump(rails::driver& rail) {
  std::array<rails::event, 16> events;
  const auto count = rail.reap(events);
  for (const auto& e : std::span(events).first(count)) {
    switch (e.kind) {
      case rails::event_kind::received:
        take(e.bytes);
        rail.release(e);
        break;
      case rails::event_kind::continued:  // no packet is sent in parts here
        rail.release(e);
        break;
      case rails::event_kind::landed:
        landed_ += e.count;
        break;
      case rails::event_kind::sent:
        --posted_;
        break;
      case rails::event_kind::failed:
      case rails::event_kind::lost:
        lost_ = true;
        break;
      case rails::event_kind::restored:
      case rails::event_kind::called:
        break;  // nothing that a measurement waits for
    }
  }
  return count;
}

void rail_connection::sleep() {
  auto& rail = *rails_[0];
  if (rail.descriptor() < 0) return;
  if (rail.arm(true)) {
    pollfd p{.fd = rail.descriptor(), .events = POLLIN, .revents = 0};
    static_cast<void>(poll(&p, 1, 100));
  }
  static_cast<void>(rail.arm(false));
}

base::result<> rail_connection::wait(const std::function<bool()>& enough, bool asleep) {
  if (enough()) return {};
  for (auto heard_ns = base::machine_now_ns();;) {
    const bool idle = pump() == 0;
    if (lost_) return failed(base::fault_kind::peer_lost, "the other side is lost");
    if (enough()) return {};
    const auto now = base::machine_now_ns();
    if (now - ticked_ns_ >= tick_ns) {
      ticked_ns_ = now;
      for (auto* rail : rails_) rail->tick(now);
    }
    if (!idle) heard_ns = now;
    if (now - heard_ns >= patience_ns_)
      return failed(base::fault_kind::timed_out, "the other side is not reached, or silent");
    if (idle && asleep) sleep();
  }
}

rails::post rail_connection::note(rails::post answer) {
  posted_ += answer == rails::post::posted ? 1 : 0;
  lost_ |= answer == rails::post::down;
  return answer;
}

rails::post rail_connection::try_send(std::size_t rail, const rails::packet& what) {
  return note(rails_[rail]->send(other_, what));
}

rails::post rail_connection::try_put(std::size_t rail, const rails::remote_place& to,
                                     std::span<const std::byte> from) {
  return note(rails_[rail]->memory()->put(other_, to, from, 0));
}

base::result<> rail_connection::put(const rails::remote_place& to,
                                    std::span<const std::byte> from) {
  return wait([&] {
    const auto answer = try_put(0, to, from);
    return answer == rails::post::done || answer == rails::post::posted;
  });
}

base::result<> rail_connection::send(const rails::packet& what) {
  return wait([&] {
    const auto answer = try_send(0, what);
    return answer == rails::post::done || answer == rails::post::posted;
  });
}

}  // namespace headway::tool
