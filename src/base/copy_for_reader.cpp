#include "base/copy_for_reader.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/fence.hpp"

namespace headway::base {

void copy_for_reader::copy_timed(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  const auto timed = std::min(size, timed_bytes_max);
  const auto begun = machine_now_ns();
  copy_between_cores(to, from, timed);
  // Not for an order: the fence returns when the stores have left the core.
  if (timed < awaited_bytes_max) store_load_fence();
  learn(timed, machine_now_ns() - begun);
  copy_as_learnt(to + timed, from + timed, size - timed);
}

void copy_for_reader::learn(std::size_t size, std::uint64_t ns) noexcept {
  const bool waits = size < awaited_bytes_max;
  const auto& most = waits ? awaited : not_awaited;
  const bool slow = ns > most.fixed_ns + size / line_bytes * most.ns_per_line;
  const bool agrees = slow == streams();
  const auto against =
      static_cast<std::uint8_t>(agrees ? 0 : against_.load(std::memory_order_relaxed) + 1);
  const bool unsure = against != 0 && against < against_max;  // then the next one tells
  if (against == against_max) streams_.store(slow, std::memory_order_relaxed);
  against_.store(unsure ? against : std::uint8_t{0}, std::memory_order_relaxed);
  const auto period = waits ? awaited_period : timed_period;
  until_timed_.store(unsure ? 1 : period, std::memory_order_relaxed);
}

}  // namespace headway::base
