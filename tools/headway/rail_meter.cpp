#include "tools/headway/rail_meter.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <ctime>

#include "base/clock.hpp"

namespace headway::tool {
namespace {

constexpr auto zone = rails::landing_id{1};
constexpr std::uint64_t tick_ns = 100'000'000;
constexpr std::size_t repeats_min = 4;
constexpr std::size_t repeats_usual = 12;  // unless they take far longer than they may
constexpr std::size_t repeats_max = 200;
constexpr int warm_ups = 30;

std::uint64_t processor_ns() noexcept {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

rail_meter::rail_meter(rails::driver& rail, rails::peer_id other, const settings& how)
    : rail_(rail),
      other_(other),
      how_(how),
      limits_(rail.query()),
      memory_(std::max(how.bytes_max, limits_.eager_bytes_max), std::byte{0x55}) {}

// ---- talking ------------------------------------------------------------------------------------

std::size_t rail_meter::pump() {
  std::array<rails::event, 16> events;
  const auto count = rail_.reap(events);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& e = events[i];
    switch (e.kind) {
      case rails::event_kind::received:
        if (e.bytes.size() >= sizeof(word)) {
          word w;
          std::memcpy(&w, e.bytes.data(), sizeof w);
          inbox_.push_back(w);
          if (w.kind == word_kind::result)
            last_payload_.assign(e.bytes.begin() + sizeof w, e.bytes.end());
        }
        rail_.release(e);
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
      default:
        break;  // nothing that a measurement waits for
    }
  }
  return count;
}

void rail_meter::sleep() {
  if (rail_.descriptor() < 0) return;
  if (rail_.arm(true)) {
    pollfd p{.fd = rail_.descriptor(), .events = POLLIN, .revents = 0};
    static_cast<void>(poll(&p, 1, 100));
  }
  static_cast<void>(rail_.arm(false));
}

base::result<> rail_meter::wait(const std::function<bool()>& enough, bool asleep) {
  auto heard_ns = base::now_ns();
  while (!enough()) {
    const bool idle = pump() == 0;
    if (lost_)
      return base::failed(base::fault_kind::peer_lost,
                          fmt::format("{}: the other side is lost", limits_.name));
    if (enough()) break;
    const auto now = base::now_ns();
    if (now - ticked_ns_ >= tick_ns) rail_.tick(ticked_ns_ = now);
    if (!idle) heard_ns = now;
    if (now - heard_ns >= how_.patience_ns)
      return base::failed(
          base::fault_kind::timed_out,
          fmt::format("{}: the other side is not reached, or silent", limits_.name));
    if (idle && asleep) sleep();
  }
  return {};
}

base::result<> rail_meter::send(const rails::packet& what) {
  auto answer = rails::post::retry;
  auto taken = wait([&] {
    answer = rail_.send(other_, what);
    return answer != rails::post::retry;
  });
  if (!taken) return taken;
  if (answer == rails::post::down)
    return base::failed(base::fault_kind::peer_lost,
                        fmt::format("{}: the other side is not reached", limits_.name));
  if (answer == rails::post::posted) ++posted_;
  return {};
}

base::result<> rail_meter::say(word w, std::span<const std::byte> payload) {
  if (auto done = send({.header = std::as_bytes(std::span(&w, 1)), .payload = payload}); !done)
    return done;
  return wait([&] { return posted_ == 0; });
}

base::result<rail_meter::word> rail_meter::hear(bool asleep) {
  if (auto done = wait([&] { return !inbox_.empty(); }, asleep); !done)
    return std::unexpected(done.error());
  const word w = inbox_.front();
  inbox_.erase(inbox_.begin());
  return w;
}

base::result<> rail_meter::hear(word_kind wanted, bool asleep) {
  const auto w = hear(asleep);
  if (!w) return std::unexpected(w.error());
  if (w->kind == wanted) return {};
  return base::failed(base::fault_kind::refused,
                      fmt::format("{}: the other side says what it should not", limits_.name));
}

// ---- leading ------------------------------------------------------------------------------------

base::result<> rail_meter::one_packet(std::size_t bytes) {
  if (auto done = say({.kind = word_kind::packet, .bytes = bytes}, std::span(memory_).first(bytes));
      !done)
    return done;
  return hear(word_kind::arrived);
}

base::result<> rail_meter::one_piece(std::size_t bytes, std::uint64_t& ns, std::uint64_t& processor,
                                     bool asleep) {
  if (auto done = say({.kind = word_kind::expect, .bytes = bytes}); !done) return done;
  if (auto done = hear(word_kind::ready); !done) return done;
  const auto processor_before = processor_ns();
  const auto before = base::now_ns();
  auto done = send({.payload = std::span(memory_).first(bytes), .landing = zone});
  if (done) done = hear(word_kind::arrived, asleep);
  ns = base::now_ns() - before;
  processor = processor_ns() - processor_before;
  if (done) done = wait([&] { return posted_ == 0; }, asleep);
  return done;
}

base::result<std::vector<double>> rail_meter::repeated(
    const std::function<base::result<double>()>& once) {
  std::vector<double> all;
  const auto begin = base::now_ns();
  while (all.size() < repeats_max) {
    const auto spent_ns = base::now_ns() - begin;
    const auto enough = spent_ns < 10 * how_.size_ns ? repeats_usual : repeats_min;
    if (all.size() >= enough && spent_ns >= how_.size_ns) break;
    const auto ns = once();
    if (!ns) return std::unexpected(ns.error());
    all.push_back(*ns);
  }
  return all;
}

/// What another program's turn on our core takes is not the rail's: the lower quartile counts.
base::result<double> rail_meter::usual(const std::function<base::result<double>()>& once) {
  auto all = repeated(once);
  if (!all) return std::unexpected(std::move(all).error());
  const auto at = all->begin() + static_cast<std::ptrdiff_t>(all->size() / 4);
  std::ranges::nth_element(*all, at);
  return *at;
}

/// Because of its bytes: a machine that is busy elsewhere takes as long for none, or for a few.
bool rail_meter::is_too_slow(std::size_t bytes, double ns) const noexcept {
  constexpr std::size_t few = 16 << 10;
  return bytes >= few && ns > static_cast<double>(how_.slow_ns) && ns > 4 * answer_ns_;
}

base::result<> rail_meter::measure_packets(measured& into) {
  const auto round_trip = [&](std::size_t bytes) -> base::result<double> {
    const auto before = base::now_ns();
    if (auto done = one_packet(bytes); !done) return std::unexpected(done.error());
    return static_cast<double>(base::now_ns() - before);
  };
  for (int i = 0; i < warm_ups; ++i)
    if (auto done = one_packet(0); !done) return done;
  // It is subtracted from all others: the quickest, or a busy moment would make them nothing.
  const auto empty = repeated([&] { return round_trip(0); });
  if (!empty) return std::unexpected(empty.error());
  answer_ns_ = *std::ranges::min_element(*empty) / 2;
  for (std::size_t i = 0; i < into.eager.size(); ++i) {
    const auto bytes = sampling::curve::bytes_of(i);
    if (bytes > limits_.eager_bytes_max || bytes > how_.bytes_max) break;
    const auto both = usual([&] { return round_trip(bytes); });
    if (!both) return std::unexpected(both.error());
    into.eager[i] = std::max(*both - answer_ns_, 1.0);
    if (is_too_slow(bytes, *both)) break;
  }
  return {};
}

base::result<> rail_meter::measure_pieces(measured& into) {
  for (std::size_t i = 0; i < into.piece.size(); ++i) {
    const auto bytes = sampling::curve::bytes_of(i);
    if (bytes > how_.bytes_max) break;
    std::uint64_t ns = 0;
    std::uint64_t processor = 0;
    const auto whole = usual([&]() -> base::result<double> {
      if (auto done = one_piece(bytes, ns, processor, false); !done)
        return std::unexpected(done.error());
      return static_cast<double>(ns);
    });
    if (!whole) return std::unexpected(whole.error());
    into.piece[i] = std::max(*whole - answer_ns_, 1.0);
    const auto cost = usual([&]() -> base::result<double> {
      if (auto done = one_piece(bytes, ns, processor, true); !done)
        return std::unexpected(done.error());
      return static_cast<double>(processor);
    });
    if (!cost) return std::unexpected(cost.error());
    into.cost[i] = std::max(*cost, 1.0);
    if (is_too_slow(bytes, *whole)) break;
  }
  return {};
}

base::result<measured> rail_meter::lead() {
  measured found;
  if (auto done = measure_packets(found); !done) return std::unexpected(done.error());
  if (auto done = measure_pieces(found); !done) return std::unexpected(done.error());
  static_assert(sizeof(measured) <= 1024 && std::is_trivially_copyable_v<measured>);
  if (auto done = say({.kind = word_kind::result, .bytes = sizeof found},
                      std::as_bytes(std::span(&found, 1)));
      !done)
    return std::unexpected(done.error());
  if (auto done = hear(word_kind::over); !done) return std::unexpected(done.error());
  return found;
}

// ---- following ----------------------------------------------------------------------------------

base::result<measured> rail_meter::follow() {
  const auto stop = [&](base::result<> how) { return std::unexpected(how.error()); };
  if (auto done = wait([&] { return rail_.land(other_, zone, memory_); }); !done) return stop(done);
  measured found;
  while (true) {
    const auto w = hear();
    if (!w) return std::unexpected(w.error());
    if (w->kind == word_kind::packet) {
      if (auto done = say({.kind = word_kind::arrived}); !done) return stop(done);
    } else if (w->kind == word_kind::expect) {
      landed_ = 0;
      if (auto done = say({.kind = word_kind::ready}); !done) return stop(done);
      if (auto done = wait([&] { return landed_ >= w->bytes; }); !done) return stop(done);
      if (auto done = say({.kind = word_kind::arrived}); !done) return stop(done);
    } else {
      if (w->kind != word_kind::result || last_payload_.size() != sizeof found)
        return base::failed(
            base::fault_kind::refused,
            fmt::format("{}: the other side says what it should not", limits_.name));
      std::memcpy(&found, last_payload_.data(), sizeof found);
      rail_.unland(zone);
      if (auto done = say({.kind = word_kind::over}); !done) return stop(done);
      return found;
    }
  }
}

}  // namespace headway::tool
