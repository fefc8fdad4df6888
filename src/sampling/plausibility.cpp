#include "sampling/plausibility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/optimizer_barrier.hpp"

namespace headway::sampling {
namespace {

/// The lower quartile of a rail's own times is within a small factor of the fastest. Exception: a
/// link of limited rate passes the first bytes at once; then the others agree with each other.
constexpr double spread_max = 8, agreement_max = 2;

}  // namespace

reading read(std::span<double> times_ns, std::uint64_t bytes, const plausible_range& within) {
  HEADWAY_ASSERT(!times_ns.empty());
  std::ranges::sort(times_ns);
  const double usual_ns = times_ns[times_ns.size() / 4];
  const double for_bytes_ns = usual_ns - within.empty_ns + within.clock_ns;
  // In this order: if an exchange without bytes took too long, the times of the others seem too
  // short and their rates too high.
  auto why = doubt::none;
  const double slow_ns = times_ns[times_ns.size() * 3 / 4];
  if (usual_ns > spread_max * times_ns.front() && slow_ns > agreement_max * usual_ns) {
    why = doubt::spread;
  } else if (for_bytes_ns <= 0) {
    why = doubt::not_above_empty;
  } else if (static_cast<double>(bytes) > for_bytes_ns * within.bytes_per_ns_max) {
    why = doubt::above_memory;
  }
  return {.ns = usual_ns, .why = why};
}

double clock_read_ns() {
  constexpr int reads = 1000;
  std::uint64_t least_ns = UINT64_MAX;
  for (int i = 0; i < reads; ++i) {
    const auto before = base::machine_now_ns();
    const auto took = base::machine_now_ns() - before;
    if (took != 0) least_ns = std::min(least_ns, took);
  }
  return least_ns == UINT64_MAX ? 0 : static_cast<double>(least_ns);
}

double memory_bytes_per_ns() {
  constexpr std::size_t bytes = 64 * 1024;  // fits, with its copy, into any second-level cache
  constexpr std::size_t repeats = 100;
  constexpr std::size_t half_a_page = 2048;  // apart, so that `base::stalls_strings` is false
  std::vector<std::byte> memory(2 * bytes + half_a_page);
  std::byte* const from = memory.data();
  std::byte* const to = from + bytes + half_a_page;
  std::uint64_t best_ns = UINT64_MAX;
  std::uint64_t seen = 0;  // makes each copy necessary
  for (std::size_t i = 0; i < repeats; ++i) {
    from[i] = static_cast<std::byte>(i);
    const auto before = base::machine_now_ns();
    std::memcpy(to, from, bytes);
    seen += std::to_integer<std::uint64_t>(to[i]);
    base::optimizer_barrier(seen);
    best_ns = std::min(best_ns, base::machine_now_ns() - before);
  }
  return static_cast<double>(bytes) / static_cast<double>(std::max<std::uint64_t>(best_ns, 1));
}

std::string text_of(doubt why, std::uint64_t bytes) {
  switch (why) {
    case doubt::none:
      break;
    case doubt::not_above_empty:
      return fmt::format("{} bytes took no longer than none", bytes);
    case doubt::spread:
      return fmt::format("of {} bytes, most took more than {} times as long as the quickest", bytes,
                         spread_max);
    case doubt::above_memory:
      return fmt::format("{} bytes came faster than memory copies them", bytes);
  }
  return {};
}

}  // namespace headway::sampling
