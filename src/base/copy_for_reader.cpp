#include "base/copy_for_reader.hpp"

#include <algorithm>
#include <limits>

#include "base/clock.hpp"
#include "base/fence.hpp"
#include "base/optimizer_barrier.hpp"

namespace headway::base {
namespace {

/// Brings the bytes into this core's caches. They are there when the clock is read next.
void fetch(const std::byte* from, std::size_t size, std::size_t line_bytes) noexcept {
  for (std::size_t at = 0; at < size; at += line_bytes) {
    auto loaded = std::to_integer<unsigned>(from[at]);
    optimizer_barrier(loaded);
  }
}

}  // namespace

void copy_for_reader::copy_timed(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  const auto timed = std::min(size, timed_bytes_max);
  const bool streamed = compares_next() && timed >= awaited_bytes_max;
  if (after_ == slow_copies::compare) fetch(from, timed, line_bytes);
  const auto begun = machine_now_ns();
  if (streamed) detail::copy_by_streaming_stores(to, from, timed);
  else copy_between_cores(to, from, timed);
  // Not for an order: the fence returns when the stores have left the core.
  if (timed < awaited_bytes_max) store_load_fence();
  const auto took = machine_now_ns() - begun;
  if (streamed) learn_streamed(timed, took);
  else learn(timed, took);
  copy_as_learnt(to + timed, from + timed, size - timed);
}

void copy_for_reader::learn(std::size_t size, std::uint64_t ns) noexcept {
  const bool waits = size < awaited_bytes_max;
  const auto& most = waits ? awaited : not_awaited;
  const bool slow = ns > most.fixed_ns + size / line_bytes * most.ns_per_line;
  if (!slow || waits || after_ == slow_copies::stream)
    return conclude(slow, waits ? awaited_period : timed_period);
  slow_ns_per_kib_.store(per_kib(size, ns), std::memory_order_relaxed);
  until_timed_.store(1, std::memory_order_relaxed);
}

void copy_for_reader::learn_streamed(std::size_t size, std::uint64_t ns) noexcept {
  const std::uint64_t ordinary = slow_ns_per_kib_.load(std::memory_order_relaxed);
  conclude(5 * ordinary > 6 * per_kib(size, ns), timed_period);
}

std::uint16_t copy_for_reader::per_kib(std::size_t size, std::uint64_t ns) noexcept {
  const auto each = ns * 1024 / size;
  constexpr std::uint64_t most = std::numeric_limits<std::uint16_t>::max();
  return static_cast<std::uint16_t>(std::clamp<std::uint64_t>(each, 1, most));
}

void copy_for_reader::conclude(bool slow, std::uint8_t period) noexcept {
  slow_ns_per_kib_.store(0, std::memory_order_relaxed);
  const bool agrees = slow == streams();
  const auto against =
      static_cast<std::uint8_t>(agrees ? 0 : against_.load(std::memory_order_relaxed) + 1);
  const bool unsure = against != 0 && against < against_max;  // then the next one tells
  if (against == against_max) streams_.store(slow, std::memory_order_relaxed);
  against_.store(unsure ? against : std::uint8_t{0}, std::memory_order_relaxed);
  until_timed_.store(unsure ? 1 : period, std::memory_order_relaxed);
}

}  // namespace headway::base
