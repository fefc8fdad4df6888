#pragma once

#include <cstdint>

namespace headway::base {

/// When a wait is worth a line in the log: after ten seconds, and each minute.
/// Threads:  its owner's.
class waiting_report {
 public:
  /// Once for each of these times, when the wait has lasted for so long.
  [[nodiscard]] constexpr bool due(std::uint64_t waited_ns) noexcept {
    if (waited_ns < next_ns_) return false;
    next_ns_ = (waited_ns / minute_ns + 1) * minute_ns;
    return true;
  }

  [[nodiscard]] constexpr bool said() const noexcept { return next_ns_ != first_ns; }

 private:
  static constexpr std::uint64_t minute_ns = 60'000'000'000;
  static constexpr std::uint64_t first_ns = 10'000'000'000;

  std::uint64_t next_ns_ = first_ns;
};

}  // namespace headway::base
