#include "base/copy_for_reader.hpp"

#include <algorithm>

#include "base/clock.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headway::base {

namespace {
constexpr std::size_t line_bytes = 64;
}  // namespace

namespace detail {

#if defined(__x86_64__)
namespace {

const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;

/// `to` is the beginning of a line, `size` whole lines.
__attribute__((target("avx2"))) void stream_lines(std::byte* to, const std::byte* from,
                                                  std::size_t size) noexcept {
  constexpr std::size_t vector_bytes = 32;
  for (std::size_t done = 0; done < size; done += line_bytes) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + done));
    const __m256i b =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + done + vector_bytes));
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + done), a);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + done + vector_bytes), b);
  }
  // Streaming stores are not ordered with the release store that publishes the bytes.
  _mm_sfence();
}

}  // namespace
#endif

void copy_by_streaming_stores(std::byte* to, const std::byte* from, std::size_t size) noexcept {
#if defined(__x86_64__)
  if (has_avx2) {
    // Only whole lines: a line that is written in part has to be read first.
    const auto before =
        (line_bytes - reinterpret_cast<std::uintptr_t>(to) % line_bytes) % line_bytes;
    const auto first = std::min(before, size);
    const auto lines = (size - first) / line_bytes * line_bytes;
    std::memcpy(to, from, first);
    std::memcpy(to + first + lines, from + first + lines, size - first - lines);
    return stream_lines(to + first, from + first, lines);
  }
#endif
  copy_between_cores(to, from, size);
}

}  // namespace detail

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
