#include "base/copy_for_reader.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace headway::base {

void copy_for_reader::copy_timed(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  const auto begun = now_ns();
  copy_between_cores(to, from, size);
  learn(size, now_ns() - begun);
}

void copy_for_reader::learn(std::size_t size, std::uint64_t ns) noexcept {
  const bool slow = ns > clock_ns + size / line_bytes * slow_ns_per_line;
  const int before = slow_in_a_row_.load(std::memory_order_relaxed);
  const int in_a_row = slow ? std::min(before + 1, slow_in_a_row_min) : 0;
  slow_in_a_row_.store(static_cast<std::uint8_t>(in_a_row), std::memory_order_relaxed);
  streams_.store(in_a_row == slow_in_a_row_min, std::memory_order_relaxed);
  const bool unsure = slow && in_a_row < slow_in_a_row_min;  // then the next one tells
  until_timed_.store(unsure ? 1 : timed_period, std::memory_order_relaxed);
}

}  // namespace headway::base
