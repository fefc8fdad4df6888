#include "sampling/division.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/assert.hpp"

namespace headway::sampling {
namespace {

/// Bisection: an interval that contains the common end, and for each rail the lines of its curve
/// that contain the ends of the interval. Once these lines are the same, the rest is arithmetic.
class search {
 public:
  search(std::span<const way> ways, std::uint32_t members, std::uint64_t bytes) noexcept
      : bytes_(static_cast<double>(bytes)) {
    low_ns_ = high_ns_ = HUGE_VAL;
    for (std::size_t i = 0; i < ways.size(); ++i) {
      if (!(members >> i & 1)) continue;
      rails_[count_++] = {.of = &ways[i], .index = i};
      low_ns_ = std::min(low_ns_, ways[i].busy_ns + ways[i].time->latency_ns());
      high_ns_ = std::min(high_ns_, end_of(ways[i], bytes));
    }
  }

  /// Finds the common end; afterwards call `fill`.
  double run() noexcept {
    narrow_lines();
    // 2^64 exceeds any interval of nanoseconds; the lines are usually found within twenty steps.
    for (int step = 0; step < 64 && !on_one_line_each(); ++step) {
      const double middle = low_ns_ + (high_ns_ - low_ns_) / 2;
      if (middle <= low_ns_ || middle >= high_ns_) break;
      (carried_by(middle) >= bytes_ ? high_ns_ : low_ns_) = middle;
      narrow_lines();
    }
    return end_ns_ = on_one_line_each() ? meet() : high_ns_;
  }

  void fill(std::span<std::uint64_t> shares, std::uint64_t bytes) const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const double room = std::floor(std::max(0.0, carried(rails_[i], end_ns_)));
      auto& share = shares[rails_[i].index];
      share = room >= bytes_ ? bytes : static_cast<std::uint64_t>(room);
      sum += share;
    }
    level(shares, bytes, sum);
  }

 private:
  struct rail {
    const way* of = nullptr;
    std::size_t index = 0;
    int low = -1;  // -1: by then the rail is not free, or nothing could arrive
    int high = static_cast<int>(curve::sample_count) - 1;
  };

  void narrow_lines() noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      auto& r = rails_[i];
      r.low = r.of->time->segment_of_ns(low_ns_ - r.of->busy_ns, r.low, r.high);
      r.high = r.of->time->segment_of_ns(high_ns_ - r.of->busy_ns, r.low, r.high);
    }
  }

  [[nodiscard]] bool on_one_line_each() const noexcept {
    for (std::size_t i = 0; i < count_; ++i)
      if (rails_[i].low != rails_[i].high) return false;
    return true;
  }

  /// Rounding leaves less than a byte for each rail, and on an almost flat line as much as the
  /// resolution of a double: the fastest rail takes or gives it, at the least cost.
  void level(std::span<std::uint64_t> shares, std::uint64_t bytes,
             std::uint64_t sum) const noexcept {
    std::uint32_t asked = 0;
    while (sum != bytes) {
      std::size_t quickest = count_;
      double best = -1;
      for (std::size_t i = 0; i < count_; ++i) {
        const auto& r = rails_[i];
        const double rate = r.high < 0 ? 0 : r.of->time->rate_of(static_cast<std::size_t>(r.high));
        if ((asked >> i & 1) != 0 || rate <= best) continue;
        best = rate;
        quickest = i;
      }
      HEADWAY_DEBUG_ASSERT(quickest < count_);  // their shares together contain the excess
      asked |= std::uint32_t{1} << quickest;
      auto& share = shares[rails_[quickest].index];
      const auto after = sum < bytes ? share + (bytes - sum) : share - std::min(share, sum - bytes);
      sum = sum - share + after;
      share = after;
    }
  }

  static double carried(const rail& r, double end_ns) noexcept {
    const double ns = end_ns - r.of->busy_ns;
    const int line = r.of->time->segment_of_ns(ns, r.low, r.high);
    return line < 0 ? 0 : r.of->time->bytes_in(ns, static_cast<std::size_t>(line));
  }

  [[nodiscard]] double carried_by(double end_ns) const noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < count_; ++i) sum += carried(rails_[i], end_ns);
    return sum;
  }

  /// Each rail is on one line: their total grows linearly from `low_ns_` on.
  [[nodiscard]] double meet() const noexcept {
    double rate = 0;
    for (std::size_t i = 0; i < count_; ++i)
      if (rails_[i].low >= 0)
        rate += rails_[i].of->time->rate_of(static_cast<std::size_t>(rails_[i].low));
    if (rate == 0) return high_ns_;
    const double end = low_ns_ + (bytes_ - carried_by(low_ns_)) / rate;
    return std::clamp(end, low_ns_, high_ns_);
  }

  std::array<rail, ways_max> rails_;
  std::size_t count_ = 0;
  double bytes_ = 0;
  double low_ns_ = 0;
  double high_ns_ = 0;
  double end_ns_ = 0;
};

std::size_t best_single(std::span<const way> ways, std::uint64_t bytes) noexcept {
  const auto best =
      std::ranges::min_element(ways, {}, [&](const way& w) { return end_of(w, bytes); });
  return static_cast<std::size_t>(best - ways.begin());
}

double latest(std::span<const way> ways, std::span<const std::uint64_t> shares) noexcept {
  double end = 0;
  for (std::size_t i = 0; i < ways.size(); ++i) end = std::max(end, end_of(ways[i], shares[i]));
  return end;
}

/// Checks what the caller promises about a rail.
[[maybe_unused]] bool sound(const way& w) noexcept {
  return w.time != nullptr && std::isfinite(w.busy_ns) && w.busy_ns >= 0;
}

/// Checks the promises of `divide`.
[[maybe_unused]] bool all_given(std::span<const std::uint64_t> shares,
                                std::uint64_t bytes) noexcept {
  return std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}) == bytes;
}

}  // namespace

double divide(std::span<const way> ways, std::uint64_t bytes, std::span<std::uint64_t> shares,
              std::uint64_t least) noexcept {
  std::ranges::fill(shares, 0);
  ways = ways.first(std::min({ways.size(), shares.size(), ways_max}));
  if (ways.empty() || bytes == 0) return 0;
  shares = shares.first(ways.size());
  HEADWAY_DEBUG_ASSERT(std::ranges::all_of(ways, sound));
  auto members = (std::uint32_t{1} << ways.size()) - 1;
  while (std::popcount(members) > 1) {
    search s(ways, members, bytes);
    s.run();
    std::ranges::fill(shares, 0);
    s.fill(shares, bytes);
    std::size_t smallest = ways.size();
    for (std::size_t i = 0; i < ways.size(); ++i) {
      if (shares[i] == 0) members &= ~(std::uint32_t{1} << i);
      if (shares[i] == 0 || shares[i] >= least) continue;
      if (smallest == ways.size() || shares[i] < shares[smallest]) smallest = i;
    }
    if (smallest == ways.size() || std::popcount(members) <= 1) break;
    members &= ~(std::uint32_t{1} << smallest);
  }
  const auto alone = best_single(ways, bytes);
  if (std::popcount(members) > 1) {
    const double together = latest(ways, shares);
    HEADWAY_DEBUG_ASSERT(all_given(shares, bytes));
    if (together <= end_of(ways[alone], bytes)) return together;
  }
  std::ranges::fill(shares, 0);
  shares[alone] = bytes;
  return end_of(ways[alone], bytes);
}

}  // namespace headway::sampling
