#include "report/summary_text.hpp"

#include <fmt/format.h>

#include <string_view>

#include "report/time_text.hpp"

namespace headway::report {
namespace {

std::string with_unit(double value, std::string_view unit) {
  constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t i = 0;
  for (; value >= 10'000 && i + 1 < std::size(prefixes); ++i) value /= 1000;
  if (i == 0 && unit.empty()) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}{}{}{}", value, i == 0 && unit.empty() ? "" : " ", prefixes[i], unit);
}

std::string value_text(std::string_view counter, double value) {
  if (counter.ends_with("_ns")) return time_text(value * 1e-9);
  if (counter.ends_with("_milli")) return fmt::format("{:.3f}", value / 1000);
  return with_unit(value, counter.find("bytes") == counter.npos ? "" : "B");
}

/// A number over the ranks, and in which rank it is least and greatest.
template <class Text>
std::string spread_text(const spread& s, Text text) {
  return fmt::format("{:>12} {:>5}{:>12}{:>12} {:>5}", text(s.least), s.least_rank, text(s.median),
                     text(s.greatest), s.greatest_rank);
}

std::string head(std::string_view first, std::string_view second) {
  return fmt::format("\n{:<40}{:>12}{:>12} {:>5}{:>12}{:>12} {:>5}\n", first, second, "least",
                     "rank", "median", "most", "rank");
}

}  // namespace

std::string summary_text(const summary& job) {
  const double whole_s = job.seconds * static_cast<double>(job.ranks.size());
  auto out =
      fmt::format("headway: {} ranks, {}; calls of MPI took {:.1f} % of their time\n", job.size,
                  time_text(job.seconds), whole_s > 0 ? 100 * job.mpi_seconds.sum / whole_s : 0);
  for (const auto rank : job.missing) out += fmt::format("rank {} reported nothing\n", rank);
  out += head("function", "calls");
  for (const auto& f : job.functions)
    out += fmt::format("{:<40}{:>12}{}\n", f.function, with_unit(static_cast<double>(f.calls), ""),
                       spread_text(f.seconds, time_text));
  if (job.counters.empty()) return out;
  out += head("counter", "");
  for (const auto& c : job.counters)
    out += fmt::format("{:<52}{}\n", c.name, spread_text(c.over_ranks, [&](double value) {
                         return value_text(c.name, value);
                       }));
  return out;
}

}  // namespace headway::report
