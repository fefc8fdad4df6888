#include "tools/headway/stream_meter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/clock.hpp"

namespace headway::tool {
namespace {

constexpr std::uint64_t tick_ns = 100'000'000;
constexpr std::size_t piece_bytes_max = 1 << 20;

}  // namespace

stream_meter::stream_meter(std::span<rails::driver* const> connections, rails::peer_id other,
                           const settings& how)
    : connections_(connections),
      other_(other),
      how_(how),
      memory_(how.memory_bytes_max, std::byte{0x55}) {}

/// One connection, two, four …
stream_meter::table stream_meter::unmeasured() const {
  table all;
  for (std::size_t count = 1; count <= connections_.size(); count *= 2)
    all.push_back({.connections = static_cast<int>(count), .bytes_per_ns = {}});
  return all;
}

void stream_meter::enter(table& into, std::size_t connections, double rate) {
  for (auto& m : into)
    if (static_cast<std::size_t>(m.connections) == connections && rate > 0)
      m.bytes_per_ns.push_back(rate);
}

/// Of the memory, for one connection: what arrives on several does not share lines.
std::span<std::byte> stream_meter::part(std::size_t connection) {
  const auto bytes = memory_.size() / connections_.size();
  return std::span(memory_).subspan(connection * bytes, bytes);
}

// ---- talking ------------------------------------------------------------------------------------

std::size_t stream_meter::pump() {
  std::size_t all = 0;
  for (auto* rail : connections_) {
    std::array<rails::event, 16> events;
    const auto count = rail->reap(events);
    all += count;
    for (const auto& e : std::span(events).first(count)) {
      switch (e.kind) {
        case rails::event_kind::received:
          if (e.bytes.size() >= sizeof(word)) {
            word w;
            std::memcpy(&w, e.bytes.data(), sizeof w);
            inbox_.push_back(w);
          }
          rail->release(e);
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
          break;
      }
    }
  }
  return all;
}

base::result<> stream_meter::wait(const std::function<bool()>& enough) {
  const auto failed = [&](base::fault_kind kind, const char* what) {
    return base::failed(kind, fmt::format("{}: {}", connections_[0]->query().name, what));
  };
  auto heard_ns = base::now_ns();
  while (!enough()) {
    const bool idle = pump() == 0;
    const auto now = base::now_ns();
    if (now - ticked_ns_ >= tick_ns) {
      ticked_ns_ = now;
      for (auto* rail : connections_) rail->tick(now);
    }
    if (!idle) heard_ns = now;
    if (lost_) return failed(base::fault_kind::peer_lost, "a connection is lost");
    if (now - heard_ns >= how_.patience_ns)
      return failed(base::fault_kind::timed_out, "a connection is not made, or silent");
  }
  return {};
}

base::result<> stream_meter::say(const word& w) {
  const rails::packet what{.header = std::as_bytes(std::span(&w, 1))};
  return wait([&] {
    const auto answer = connections_[0]->send(other_, what);
    lost_ |= answer == rails::post::down;
    return answer == rails::post::done;
  });
}

base::result<stream_meter::word> stream_meter::hear() {
  if (auto done = wait([&] { return !inbox_.empty(); }); !done)
    return std::unexpected(done.error());
  const word w = inbox_.front();
  inbox_.erase(inbox_.begin());
  return w;
}

base::result<stream_meter::word> stream_meter::hear(word_kind wanted) {
  const auto w = hear();
  if (!w || w->kind == wanted) return w;
  return base::failed(
      base::fault_kind::refused,
      fmt::format("{}: the other side says what it should not", connections_[0]->query().name));
}

// ---- leading ------------------------------------------------------------------------------------

base::result<> stream_meter::send_stream(std::size_t connections, std::uint64_t bytes_each) {
  std::vector<std::uint64_t> sent(connections, 0);
  return wait([&] {
    bool all = true;
    for (std::size_t i = 0; i < connections; ++i) {
      const auto from = part(i);
      const auto piece_bytes = std::min(piece_bytes_max, from.size());
      const auto pieces = from.size() / piece_bytes;
      while (sent[i] < bytes_each) {
        const auto offset = sent[i] / piece_bytes % pieces * piece_bytes;
        const auto bytes = std::min<std::uint64_t>(piece_bytes, bytes_each - sent[i]);
        const auto answer =
            connections_[i]->send(other_, {.payload = from.subspan(offset, bytes),
                                           .landing = static_cast<rails::landing_id>(i + 1),
                                           .offset = offset});
        lost_ |= answer == rails::post::down;
        if (answer == rails::post::retry || answer == rails::post::down) break;
        if (answer == rails::post::posted) ++posted_;
        sent[i] += bytes;
      }
      all &= sent[i] == bytes_each;
    }
    return all && posted_ == 0;
  });
}

/// So many bytes over one connection take about `stream_ns`.
base::result<std::uint64_t> stream_meter::enough_bytes() {
  constexpr std::uint64_t bytes_max = 256 << 20;
  std::uint64_t bytes = 256 << 10;
  while (true) {
    const auto begin_ns = base::now_ns();
    if (const auto done = stream(1, bytes, false); !done) return std::unexpected(done.error());
    const auto ns = std::max<std::uint64_t>(base::now_ns() - begin_ns, 1);
    if (ns >= how_.stream_ns / 2 || bytes == bytes_max) return bytes;
    bytes = std::min(bytes * std::clamp<std::uint64_t>(how_.stream_ns / ns, 2, 8), bytes_max);
  }
}

base::result<double> stream_meter::stream(std::size_t connections, std::uint64_t bytes,
                                          bool counts) {
  const auto each = bytes / connections;
  auto done = say({.kind = word_kind::stream,
                   .connections = static_cast<std::uint32_t>(connections),
                   .bytes = each,
                   .counts = counts});
  if (!done) return std::unexpected(done.error());
  if (const auto ready = hear(word_kind::ready); !ready) return std::unexpected(ready.error());
  if (done = send_stream(connections, each); !done) return std::unexpected(done.error());
  const auto seen = hear(word_kind::rate);
  if (!seen) return std::unexpected(seen.error());
  return seen->rate;
}

base::result<std::vector<sampling::stream_rates>> stream_meter::lead() {
  const auto enough = enough_bytes();
  if (!enough) return std::unexpected(enough.error());
  auto found = unmeasured();
  for (int round = 0; round < how_.rounds; ++round)
    for (const auto& m : found) {
      const auto count = static_cast<std::size_t>(m.connections);
      // Between what takes as long if they share the link and if each has its own.
      const auto rate = stream(count, count == 1 ? *enough : 2 * *enough, true);
      if (!rate) return std::unexpected(rate.error());
      enter(found, count, *rate);
    }
  if (auto done = say({.kind = word_kind::over}); !done) return std::unexpected(done.error());
  if (const auto end = hear(word_kind::over); !end) return std::unexpected(end.error());
  return found;
}

// ---- following ----------------------------------------------------------------------------------

/// Bytes per nanosecond of the middle half.
base::result<double> stream_meter::take_stream(std::size_t connections, std::uint64_t bytes_each) {
  struct moment {
    std::uint64_t bytes = 0;
    std::uint64_t ns = 0;
  };
  moment begin;
  moment end;
  const auto whole = connections * bytes_each;
  landed_ = 0;
  if (auto done = say({.kind = word_kind::ready}); !done) return std::unexpected(done.error());
  auto done = wait([&] {
    const moment now{.bytes = landed_, .ns = base::now_ns()};
    if (begin.ns == 0 && now.bytes >= whole / 4) begin = now;
    if (end.ns == 0 && now.bytes >= whole / 4 * 3) end = now;
    return landed_ >= whole;
  });
  if (!done) return std::unexpected(done.error());
  if (end.ns <= begin.ns) return 0;  // all at once: not measured
  return static_cast<double>(end.bytes - begin.bytes) / static_cast<double>(end.ns - begin.ns);
}

base::result<std::vector<sampling::stream_rates>> stream_meter::follow() {
  const auto stop = [](const base::fault& why) { return std::unexpected(why); };
  auto found = unmeasured();
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    const auto zone = static_cast<rails::landing_id>(i + 1);
    if (auto done = wait([&] { return connections_[i]->land(other_, zone, part(i)); }); !done)
      return stop(done.error());
  }
  while (true) {
    const auto wanted = hear();
    if (!wanted) return stop(wanted.error());
    const std::size_t count = wanted->connections;
    if (wanted->kind == word_kind::over) break;
    if (wanted->kind != word_kind::stream || count == 0 || count > connections_.size())
      return base::failed(base::fault_kind::refused, "the other side says what it should not");
    const auto rate = take_stream(count, wanted->bytes);
    if (!rate) return stop(rate.error());
    if (auto done = say({.kind = word_kind::rate, .rate = *rate}); !done) return stop(done.error());
    if (wanted->counts) enter(found, count, *rate);
  }
  for (std::size_t i = 0; i < connections_.size(); ++i)
    connections_[i]->unland(static_cast<rails::landing_id>(i + 1));
  if (auto done = say({.kind = word_kind::over}); !done) return stop(done.error());
  return found;
}

}  // namespace headway::tool
