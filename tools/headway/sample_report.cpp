#include "tools/headway/sample_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json_string.hpp"

namespace headway::tool {
namespace {

using base::json_string;

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

// ---- the picture --------------------------------------------------------------------------------

constexpr double width = 760;
constexpr double height = 460;
constexpr double left = 70;
constexpr double right = 20;
constexpr double top = 20;
constexpr double bottom = 50;
constexpr std::array<const char*, 8> colours{"#1b6ca8", "#c8553d", "#2e8b57", "#8e5ea2",
                                             "#d4a017", "#4a4e69", "#e07a5f", "#3d405b"};

/// Powers of ten of the rates that occur: the picture's height.
struct scale {
  int low = 0;
  int high = 1;

  explicit scale(std::span<const sampled_rail> rails) {
    double least = HUGE_VAL;
    double most = 0;
    for (const auto& r : rails)
      for (std::size_t i = 0; i < r.in.piece.size(); ++i) {
        if (r.in.piece[i] <= 0) continue;
        const double rate = rate_of(sampling::curve::bytes_of(i), r.in.piece[i]);
        least = std::min(least, rate);
        most = std::max(most, rate);
      }
    if (most == 0) return;
    low = static_cast<int>(std::floor(std::log10(least)));
    high = std::max(low + 1, static_cast<int>(std::ceil(std::log10(most))));
  }
  [[nodiscard]] double y(double rate) const {
    return height - bottom - (std::log10(rate) - low) / (high - low) * (height - top - bottom);
  }
  static double x(std::size_t sample) {
    return left + static_cast<double>(sample) / (sampling::curve::sample_count - 1) *
                      (width - left - right);
  }
};

std::string grid(const scale& s) {
  std::string text;
  for (int power = s.low; power <= s.high; ++power) {
    const double y = s.y(std::pow(10, power));
    text += fmt::format(
        "<line x1='{}' y1='{:.1f}' x2='{}' y2='{:.1f}' stroke='#ddd'/>\n"
        "<text x='{}' y='{:.1f}' text-anchor='end'>{:g}</text>\n",
        left, y, width - right, y, left - 8, y + 4, std::pow(10, power));
  }
  for (std::size_t i = 0; i < sampling::curve::sample_count; i += 5)
    text += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{}</text>\n", scale::x(i),
                        height - bottom + 18, size_text(sampling::curve::bytes_of(i)));
  return text + fmt::format(
                    "<text x='{}' y='{}' text-anchor='middle'>size</text>\n"
                    "<text x='16' y='{}' text-anchor='middle' transform='rotate(-90 16 {})'>"
                    "MB/s</text>\n",
                    (left + width - right) / 2, height - 10, height / 2, height / 2);
}

std::string escaped(std::string_view text) {
  std::string made;
  for (const char c : text) made += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return made;
}

std::string line_of(const sampled_rail& r, const scale& s, std::size_t number) {
  const auto* colour = colours[number % colours.size()];
  std::string points;
  for (std::size_t i = 0; i < r.in.piece.size(); ++i)
    if (r.in.piece[i] > 0)
      points += fmt::format("{:.1f},{:.1f} ", scale::x(i),
                            s.y(rate_of(sampling::curve::bytes_of(i), r.in.piece[i])));
  return fmt::format(
      "<polyline points='{}' fill='none' stroke='{}' stroke-width='2'/>\n"
      "<text x='{}' y='{}' fill='{}'>{}</text>\n",
      points, colour, left + 12, top + 16 + 18 * static_cast<double>(number), colour,
      escaped(r.kept.key.rail));
}

std::string streams_json(std::span<const sampling::stream_rates> streams) {
  std::string text;
  for (const auto& s : streams)
    text += fmt::format("{}{{\"connections\": {}, \"mb_per_s\": {}}}", text.empty() ? "" : ", ",
                        s.connections, s.sensible() ? s.usual() * 1e3 : 0.0);
  return "[" + text + "]";
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
  std::string text = "{\"rails\": [";
  for (const auto& r : rails) {
    const auto& key = r.kept.key;
    text += fmt::format("{}\n  {{\"rail\": {}, \"here\": {}, \"there\": {}, ",
                        &r == rails.data() ? "" : ",", json_string(key.rail), json_string(key.here),
                        json_string(key.there));
    if (!r.fault.empty()) {
      text += fmt::format("\"fault\": {}}}", json_string(r.fault));
      continue;
    }
    text += fmt::format("\"hardware\": {}, \"file\": {}, \"rendezvous_bytes\": {}, ",
                        json_string(r.kept.hardware), json_string(r.file),
                        r.kept.found.rendezvous_bytes(r.eager_bytes_max));
    text += fmt::format(
        "\"connections\": {}, \"streams_in\": {}, \"streams_out\": {}, \"samples\": [",
        r.kept.found.connections, streams_json(r.streams_in), streams_json(r.streams_out));
    for (std::size_t i = 0; i < r.in.piece.size(); ++i)
      text += fmt::format(
          "{}\n    {{\"bytes\": {}, \"in_ns\": {:.0f}, \"out_ns\": {:.0f}, \"packet_ns\": {:.0f}, "
          "\"cost_ns\": {:.0f}}}",
          i == 0 ? "" : ",", sampling::curve::bytes_of(i), r.in.piece[i], r.out.piece[i],
          r.out.eager[i], r.out.cost[i]);
    text += "]}";
  }
  return text + "]}\n";
}

std::string sample_svg(std::span<const sampled_rail> rails) {
  const scale s(rails);
  std::string text = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{}' height='{}' font-family='sans-serif' "
      "font-size='12'>\n<rect width='100%' height='100%' fill='white'/>\n",
      width, height);
  text += grid(s);
  for (std::size_t i = 0; i < rails.size(); ++i) text += line_of(rails[i], s, i);
  return text + "</svg>\n";
}

}  // namespace headway::tool
