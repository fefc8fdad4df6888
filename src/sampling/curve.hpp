#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/assert.hpp"

namespace headway::sampling {

/// A duration as a function of a size: samples at powers of two and straight lines between them;
/// the last line continues for ever.
///
/// Shape:    27 samples, 1 byte to 64 MB, in nanoseconds; always positive and increasing, so that a
///           size determines a time and vice versa. Nothing allocates.
/// Threads:  a value; the caller serializes.
/// Errors:   invalid samples (not finite, not positive) count as not measured.
/// Source:   multirail08, section III-C: sampling at powers of two, logarithm, interpolation.
class curve {
 public:
  static constexpr std::size_t sample_count = 27;
  /// The least slope of a line: a measured plateau is noise, or a rail of a petabyte a second.
  static constexpr double slope_min = 1e-6;  // ns per byte
  static constexpr double ns_min = 1e-3;
  static constexpr double ns_max = 1e15;  // eleven days

  [[nodiscard]] static constexpr std::uint64_t bytes_of(std::size_t sample) noexcept {
    HEADWAY_DEBUG_ASSERT(sample < sample_count);
    return std::uint64_t{1} << sample;
  }

  /// The curve of a rail of which only latency and rate are known.
  [[nodiscard]] static curve straight(double latency_ns, double bytes_per_ns) noexcept;
  /// `ns[i]` is the time of 2^i bytes; 0 or less: not measured. Gaps are interpolated, falling
  /// neighbours are averaged. Nothing: no sample is valid.
  [[nodiscard]] static std::optional<curve> from_samples(std::span<const double> ns) noexcept;

  [[nodiscard]] double sample_ns(std::size_t sample) const noexcept {
    HEADWAY_DEBUG_ASSERT(sample < sample_count);
    return ns_[sample];
  }
  /// The time of the smallest transfer.
  [[nodiscard]] double latency_ns() const noexcept { return ns_[0]; }
  /// The rate at the largest samples, in bytes per nanosecond (GB/s).
  [[nodiscard]] double rate() const noexcept { return 1 / slope_[sample_count - 1]; }

  /// Zero bytes take no time.
  [[nodiscard]] double ns_for(std::uint64_t bytes) const noexcept {
    if (bytes == 0) return 0;
    const auto s = segment_of_bytes(bytes);
    return ns_[s] + (static_cast<double>(bytes) - static_cast<double>(bytes_of(s))) * slope_[s];
  }
  /// The most bytes that take at most `ns`; less than 1 if `ns` is below the latency.
  [[nodiscard]] double bytes_in(double ns) const noexcept {
    const int s = segment_of_ns(ns, -1, static_cast<int>(sample_count) - 1);
    return s < 0 ? 0 : bytes_in(ns, static_cast<std::size_t>(s));
  }

  /// The line that contains `ns`, -1 below the first; searched between `low` and `high`.
  [[nodiscard]] int segment_of_ns(double ns, int low, int high) const noexcept {
    HEADWAY_DEBUG_ASSERT(-1 <= low && low <= high && high < static_cast<int>(sample_count));
    while (low < high) {
      const int middle = (low + high + 1) / 2;
      if (ns_[static_cast<std::size_t>(middle)] <= ns) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }
  [[nodiscard]] double bytes_in(double ns, std::size_t segment) const noexcept {
    return static_cast<double>(bytes_of(segment)) + (ns - ns_[segment]) * per_ns_[segment];
  }
  /// Bytes per nanosecond on that line.
  [[nodiscard]] double rate_of(std::size_t segment) const noexcept {
    HEADWAY_DEBUG_ASSERT(segment < sample_count);
    return per_ns_[segment];
  }

  /// Updates the curve with one transfer: `bytes` took `ns`. The adjacent samples move by `weight`
  /// (0 to 1) of the error (as a factor), others by a quarter less for each power of two.
  void learn(std::uint64_t bytes, double ns, double weight) noexcept;

 private:
  using values = std::array<double, sample_count>;
  explicit curve(const values& ns) noexcept;
  static std::size_t segment_of_bytes(std::uint64_t bytes) noexcept {
    return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(bytes)) - 1,
                                 sample_count - 1);
  }
  static void fill_gaps(values& ns) noexcept;
  static void level_falls(values& ns) noexcept;
  void draw_lines() noexcept;

  values ns_{};
  values slope_{};   // of the line that begins at the sample; the last one continues
  values per_ns_{};  // 1 / slope_
};

}  // namespace headway::sampling
