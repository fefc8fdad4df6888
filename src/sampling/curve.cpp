#include "sampling/curve.hpp"

#include <algorithm>
#include <cmath>

#include "base/assert.hpp"

namespace headway::sampling {
namespace {

bool measured(double ns) noexcept { return std::isfinite(ns) && ns > 0; }

double size_of(std::size_t sample) noexcept { return static_cast<double>(curve::bytes_of(sample)); }

}  // namespace

curve::curve(const values& ns) noexcept : ns_(ns) { draw_lines(); }

void curve::draw_lines() noexcept {
  for (auto& t : ns_) t = std::clamp(t, ns_min, ns_max);
  for (std::size_t i = 1; i < sample_count; ++i) {
    const double step = size_of(i) - size_of(i - 1);
    // The second term keeps the line rising by more than the resolution of a double at so large a
    // time.
    const double rise = std::max(step * slope_min, ns_[i - 1] * 1e-12);
    ns_[i] = std::max(ns_[i], ns_[i - 1] + rise);
    slope_[i - 1] = (ns_[i] - ns_[i - 1]) / step;
  }
  slope_.back() = slope_[sample_count - 2];
  // Positive and rising, so that a size determines a time and vice versa.
  HEADWAY_DEBUG_ASSERT(ns_[0] > 0 &&
                       std::ranges::all_of(slope_, [](double slope) { return slope > 0; }));
  for (std::size_t i = 0; i < sample_count; ++i) per_ns_[i] = 1 / slope_[i];
}

curve curve::straight(double latency_ns, double bytes_per_ns) noexcept {
  values ns{};
  for (std::size_t i = 0; i < sample_count; ++i)
    ns[i] = latency_ns + (size_of(i) - 1) / std::max(bytes_per_ns, 1e-9);
  return curve(ns);
}

std::optional<curve> curve::from_samples(std::span<const double> samples) noexcept {
  values ns{};
  for (std::size_t i = 0; i < std::min(samples.size(), sample_count); ++i)
    if (measured(samples[i])) ns[i] = std::clamp(samples[i], ns_min, ns_max);
  if (std::ranges::none_of(ns, measured)) return std::nullopt;
  fill_gaps(ns);
  level_falls(ns);
  return curve(ns);
}

/// Between two samples the line; below the first its time; above the last the last line.
void curve::fill_gaps(values& ns) noexcept {
  const auto first = static_cast<std::size_t>(std::ranges::find_if(ns, measured) - ns.begin());
  std::fill_n(ns.begin(), first, ns[first]);
  std::size_t before = first;
  double slope = 0;
  for (std::size_t i = first + 1; i < sample_count; ++i) {
    if (!measured(ns[i])) continue;
    slope = (ns[i] - ns[before]) / (size_of(i) - size_of(before));
    for (std::size_t j = before + 1; j < i; ++j)
      ns[j] = ns[before] + (size_of(j) - size_of(before)) * slope;
    before = i;
  }
  // With a single sample, the rate of that one: the time of nothing is unknown.
  if (before == first) slope = ns[first] / size_of(first);
  for (std::size_t j = before + 1; j < sample_count; ++j)
    ns[j] = ns[before] + (size_of(j) - size_of(before)) * std::max(slope, slope_min);
}

/// A larger size that seems faster is noise: the two are replaced by their mean, together with
/// their predecessors where that would fall again (isotonic regression by pooling neighbours).
void curve::level_falls(values& ns) noexcept {
  struct pool {
    double mean = 0;
    std::size_t count = 0;
  };
  std::array<pool, sample_count> pools;
  std::size_t used = 0;
  for (const double t : ns) {
    pools[used++] = {.mean = t, .count = 1};
    while (used > 1 && pools[used - 1].mean < pools[used - 2].mean) {
      auto& into = pools[used - 2];
      const auto& from = pools[--used];
      const auto count = into.count + from.count;
      into.mean = (into.mean * static_cast<double>(into.count) +
                   from.mean * static_cast<double>(from.count)) /
                  static_cast<double>(count);
      into.count = count;
    }
  }
  std::size_t at = 0;
  for (std::size_t p = 0; p < used; ++p)
    for (std::size_t i = 0; i < pools[p].count; ++i) ns[at++] = pools[p].mean;
}

void curve::learn(std::uint64_t bytes, double ns, double weight) noexcept {
  HEADWAY_DEBUG_ASSERT(weight >= 0 && weight <= 1);
  if (bytes == 0 || !measured(ns)) return;
  // One transfer may have been delayed arbitrarily: no sample changes by more than a factor of
  // four.
  const double wrong = std::clamp(ns / ns_for(bytes), 0.25, 4.0);
  const double place = std::log2(static_cast<double>(bytes));
  for (std::size_t i = 0; i < sample_count; ++i) {
    const double away = std::abs(place - static_cast<double>(i));
    const double part = weight * (away <= 1 ? 1.0 : std::exp2(2 * (1 - away)));
    ns_[i] *= std::pow(wrong, part);
  }
  level_falls(ns_);
  draw_lines();
}

}  // namespace headway::sampling
