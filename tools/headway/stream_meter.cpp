#include "tools/headway/stream_meter.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace headway::tool {
namespace {

constexpr std::size_t piece_bytes_max = 1 << 20;

}  // namespace

stream_meter::stream_meter(std::span<rails::driver* const> connections, rails::peer_id other,
                           const settings& how)
    : connections_(connections),
      other_(other),
      how_(how),
      connection_(connections, other, how.patience_ns),
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

/// The part of the memory for one connection: connections share no cache lines.
std::span<std::byte> stream_meter::part(std::size_t connection) {
  const auto bytes = memory_.size() / connections_.size();
  return std::span(memory_).subspan(connection * bytes, bytes);
}

// ---- leading ------------------------------------------------------------------------------------

base::result<> stream_meter::send_stream(std::size_t connections, std::uint64_t bytes_each) {
  std::vector<std::uint64_t> sent(connections, 0);
  return connection_.wait([&] {
    bool all = true;
    for (std::size_t i = 0; i < connections; ++i) {
      const auto from = part(i);
      const auto piece_bytes = std::min(piece_bytes_max, from.size());
      const auto pieces = from.size() / piece_bytes;
      while (sent[i] < bytes_each) {
        const auto offset = sent[i] / piece_bytes % pieces * piece_bytes;
        const auto bytes = std::min<std::uint64_t>(piece_bytes, bytes_each - sent[i]);
        const auto answer = connection_.try_put(i, {.exposed = targets_[i], .offset = offset},
                                                from.subspan(offset, bytes));
        if (answer == rails::post::retry || answer == rails::post::down) break;
        sent[i] += bytes;
      }
      all &= sent[i] == bytes_each;
    }
    return all && connection_.all_sent();
  });
}

/// The number of bytes that takes about `stream_ns` over one connection.
base::result<std::uint64_t> stream_meter::enough_bytes() {
  constexpr std::uint64_t bytes_max = 256 << 20;
  std::uint64_t bytes = 256 << 10;
  while (true) {
    const auto begin_ns = base::machine_now_ns();
    if (const auto done = stream(1, bytes, false); !done) return std::unexpected(done.error());
    const auto ns = std::max<std::uint64_t>(base::machine_now_ns() - begin_ns, 1);
    if (ns >= how_.stream_ns / 2 || bytes == bytes_max) return bytes;
    bytes = std::min(bytes * std::clamp<std::uint64_t>(how_.stream_ns / ns, 2, 8), bytes_max);
  }
}

base::result<double> stream_meter::stream(std::size_t connections, std::uint64_t bytes,
                                          bool counts) {
  const auto each = bytes / connections;
  auto done = connection_.send_word({.kind = word_kind::stream,
                                     .connections = static_cast<std::uint32_t>(connections),
                                     .bytes = each,
                                     .counts = counts});
  if (!done) return std::unexpected(done.error());
  if (const auto ready = connection_.receive_kind(word_kind::ready); !ready)
    return std::unexpected(ready.error());
  if (done = send_stream(connections, each); !done) return std::unexpected(done.error());
  const auto seen = connection_.receive_kind(word_kind::rate);
  if (!seen) return std::unexpected(seen.error());
  return seen->rate;
}

base::result<std::vector<sampling::stream_rates>> stream_meter::lead() {
  targets_.clear();
  if (auto done = connection_.send_word({.kind = word_kind::show}); !done)
    return std::unexpected(done.error());
  while (targets_.size() < connections_.size()) {
    const auto shown = connection_.receive_kind(word_kind::shown);
    if (!shown) return std::unexpected(shown.error());
    targets_.push_back(shown->target);
  }
  const auto enough = enough_bytes();
  if (!enough) return std::unexpected(enough.error());
  auto found = unmeasured();
  for (int round = 0; round < how_.rounds; ++round)
    for (const auto& m : found) {
      const auto count = static_cast<std::size_t>(m.connections);
      // Between the times for connections that share the link and that have a link each.
      const auto rate = stream(count, count == 1 ? *enough : 2 * *enough, true);
      if (!rate) return std::unexpected(rate.error());
      enter(found, count, *rate);
    }
  if (auto done = connection_.send_word({.kind = word_kind::over}); !done)
    return std::unexpected(done.error());
  if (const auto end = connection_.receive_kind(word_kind::over); !end)
    return std::unexpected(end.error());
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
  connection_.forget_landed();
  if (auto done = connection_.send_word({.kind = word_kind::ready}); !done)
    return std::unexpected(done.error());
  auto done = connection_.wait([&] {
    const moment now{.bytes = connection_.landed(), .ns = base::machine_now_ns()};
    if (begin.ns == 0 && now.bytes >= whole / 4) begin = now;
    if (end.ns == 0 && now.bytes >= whole / 4 * 3) end = now;
    return now.bytes >= whole;
  });
  if (!done) return std::unexpected(done.error());
  if (end.ns <= begin.ns) return 0;  // all at once: not measured
  return static_cast<double>(end.bytes - begin.bytes) / static_cast<double>(end.ns - begin.ns);
}

base::result<std::vector<sampling::stream_rates>> stream_meter::follow() {
  const auto stop = [](const base::fault& why) { return std::unexpected(why); };
  auto found = unmeasured();
  // The leader sends first: the other side may still be in the previous measurement.
  if (const auto asked = connection_.receive_kind(word_kind::show); !asked)
    return stop(asked.error());
  std::vector<rails::ticket> shown;
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    const auto one = connections_[i]->memory()->expose(
        {.bytes = part(i), .who = rails::process_set::only(other_)});
    if (!one) return stop(one.error());
    shown.push_back(*one);
    if (auto done = connection_.send_word({.kind = word_kind::shown, .target = *one}); !done)
      return stop(done.error());
  }
  while (true) {
    const auto wanted = connection_.receive();
    if (!wanted) return stop(wanted.error());
    const std::size_t count = wanted->connections;
    if (wanted->kind == word_kind::over) break;
    if (wanted->kind != word_kind::stream || count == 0 || count > connections_.size())
      return connection_.refuse();
    const auto rate = take_stream(count, wanted->bytes);
    if (!rate) return stop(rate.error());
    if (auto done = connection_.send_word({.kind = word_kind::rate, .rate = *rate}); !done)
      return stop(done.error());
    if (wanted->counts) enter(found, count, *rate);
  }
  for (std::size_t i = 0; i < connections_.size(); ++i)
    connections_[i]->memory()->withdraw(shown[i]);
  if (auto done = connection_.send_word({.kind = word_kind::over}); !done)
    return stop(done.error());
  return found;
}

}  // namespace headway::tool
