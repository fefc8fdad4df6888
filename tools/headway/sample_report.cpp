#include "tools/headway/sample_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "base/json_writer.hpp"

namespace headway::tool {
namespace {

std::string size_text(std::uint64_t bytes) {
  if (bytes >= 1 << 20) return fmt::format("{} MB", bytes >> 20);
  if (bytes >= 1 << 10) return fmt::format("{} KB", bytes >> 10);
  return fmt::format("{} B", bytes);
}

std::string us_text(double ns) { return ns > 0 ? fmt::format("{:.1f}", ns / 1e3) : "-"; }

/// Megabytes (10^6) a second.
double rate_of(std::uint64_t bytes, double ns) { return static_cast<double>(bytes) / ns * 1e3; }

std::string head_of(const sampled_rail& r) {
  const auto& key = r.kept.key;
  if (!r.fault.empty())
    return fmt::format("{} {} - {}: {}\n", key.rail, key.here, key.there, r.fault);
  const auto& p = r.kept.found;
  return fmt::format(
      "{} {} - {} ({})\n  latency {:.1f} us, rate {:.0f} MB/s in and {:.0f} MB/s out, rendezvous "
      "from {}\n",
      key.rail, key.here, key.there, r.kept.hardware, p.eager.latency_ns() / 1e3,
      p.piece.rate() * 1e3,
      sampling::curve::from_samples(r.out.piece).value_or(p.piece).rate() * 1e3,
      size_text(p.rendezvous_bytes(r.eager_bytes_max)));
}

std::string rates_text(std::span<const sampling::stream_rates> streams) {
  std::string text;
  for (const auto& s : streams)
    text += fmt::format("{}{}", text.empty() ? "" : ", ",
                        s.sensible() ? fmt::format("{:.0f}", s.usual() * 1e3) : "-");
  return text;
}

/// "streams over 1, 2, 4 connections: 25, 50, 100 MB/s in, 25, 50, 99 out: 4 pay"
std::string streams_text(const sampled_rail& r) {
  if (r.streams_in.empty()) return {};
  std::string numbers;
  for (const auto& s : r.streams_in)
    numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", s.connections);
  const int pay = r.kept.found.connections;
  return fmt::format("  streams over {} connections: {} MB/s in, {} out: {}\n", numbers,
                     rates_text(r.streams_in), rates_text(r.streams_out),
                     pay == 1 ? "one is enough" : fmt::format("{} pay", pay));
}

void add_streams(base::json_writer& out, std::string_view name,
                 std::span<const sampling::stream_rates> streams) {
  out.name(name);
  out.array(streams, [&](const auto& s) {
    out.object([&] {
      out.member("connections", s.connections);
      out.member("mb_per_s", s.sensible() ? s.usual() * 1e3 : 0.0);
    });
  });
}

void add_samples(base::json_writer& out, const sampled_rail& r) {
  out.name("samples");
  out.begin_array();
  for (std::size_t i = 0; i < r.in.piece.size(); ++i) {
    out.break_line();
    out.object([&] {
      out.member("bytes", sampling::curve::bytes_of(i));
      out.member("in_ns", std::round(r.in.piece[i]));
      out.member("out_ns", std::round(r.out.piece[i]));
      out.member("packet_ns", std::round(r.out.eager[i]));
      out.member("cost_ns", std::round(r.out.cost[i]));
    });
  }
  out.end_array();
}

void add_rail(base::json_writer& out, const sampled_rail& r) {
  const auto& key = r.kept.key;
  out.member("rail", key.rail);
  out.member("here", key.here);
  out.member("there", key.there);
  if (!r.fault.empty()) return out.member("fault", r.fault);
  out.member("hardware", r.kept.hardware);
  out.member("file", r.file);
  out.member("rendezvous_bytes", r.kept.found.rendezvous_bytes(r.eager_bytes_max));
  out.member("connections", r.kept.found.connections);
  add_streams(out, "streams_in", r.streams_in);
  add_streams(out, "streams_out", r.streams_out);
  add_samples(out, r);
}

}  // namespace

std::string sample_table(std::span<const sampled_rail> rails) {
  std::string text;
  for (const auto& r : rails) {
    text += head_of(r);
    if (!r.fault.empty()) continue;
    text += streams_text(r);
    text += fmt::format("  {:>8} {:>12} {:>12} {:>12} {:>12} {:>10}\n", "size", "in, us", "out, us",
                        "packet, us", "cost, us", "in, MB/s");
    for (std::size_t i = 0; i < r.in.piece.size(); ++i) {
      const auto bytes = sampling::curve::bytes_of(i);
      if (r.in.piece[i] <= 0 && r.out.piece[i] <= 0) continue;
      const auto rate =
          r.in.piece[i] > 0 ? fmt::format("{:.0f}", rate_of(bytes, r.in.piece[i])) : "-";
      text += fmt::format("  {:>8} {:>12} {:>12} {:>12} {:>12} {:>10}\n", size_text(bytes),
                          us_text(r.in.piece[i]), us_text(r.out.piece[i]), us_text(r.out.eager[i]),
                          us_text(r.out.cost[i]), rate);
    }
    if (!r.file.empty()) text += fmt::format("  kept in {}\n", r.file);
  }
  return text.empty() ? "no rail between the two ranks\n" : text;
}

std::string sample_json(std::span<const sampled_rail> rails) {
  base::json_writer out;
  out.object([&] {
    out.name("rails");
    out.array(rails, [&](const auto& r) { out.object([&] { add_rail(out, r); }); }, true);
  });
  return out.take() + "\n";
}

}  // namespace headway::tool
