#include "base/copy_between_cores.hpp"

#include <algorithm>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headway::base::detail {

#if defined(__x86_64__)
namespace {

constexpr std::size_t vector_bytes = 32, step_bytes = 4 * vector_bytes;

__attribute__((target("avx2"))) __m256i load(const std::byte* from) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

__attribute__((target("avx2"))) void store(std::byte* to, __m256i what) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), what);
}

/// At least one step. The first vector and the last step overlap what is between them, so that all
/// other stores are aligned.
__attribute__((target("avx2"))) void copy_by_avx2(std::byte* to, const std::byte* from,
                                                  std::size_t size) noexcept {
  const auto copy_step = [](std::byte* at, const std::byte* of) __attribute__((target("avx2"))) {
    const __m256i a = load(of), b = load(of + vector_bytes), c = load(of + 2 * vector_bytes),
                  d = load(of + 3 * vector_bytes);
    store(at, a);
    store(at + vector_bytes, b);
    store(at + 2 * vector_bytes, c);
    store(at + 3 * vector_bytes, d);
  };
  store(to, load(from));
  std::size_t done = vector_bytes - reinterpret_cast<std::uintptr_t>(to) % vector_bytes;
  for (; done + step_bytes <= size; done += step_bytes) copy_step(to + done, from + done);
  copy_step(to + size - step_bytes, from + size - step_bytes);
}

/// The same by vectors of a whole line.
__attribute__((target("avx512f"))) void copy_by_avx512(std::byte* to, const std::byte* from,
                                                       std::size_t size) noexcept {
  constexpr std::size_t wide_bytes = 64, wide_step_bytes = 4 * wide_bytes;
  const auto copy_step = [](std::byte* at, const std::byte* of) __attribute__((target("avx512f"))) {
    const __m512i a = _mm512_loadu_si512(of), b = _mm512_loadu_si512(of + wide_bytes),
                  c = _mm512_loadu_si512(of + 2 * wide_bytes),
                  d = _mm512_loadu_si512(of + 3 * wide_bytes);
    _mm512_storeu_si512(at, a);
    _mm512_storeu_si512(at + wide_bytes, b);
    _mm512_storeu_si512(at + 2 * wide_bytes, c);
    _mm512_storeu_si512(at + 3 * wide_bytes, d);
  };
  _mm512_storeu_si512(to, _mm512_loadu_si512(from));
  std::size_t done = wide_bytes - reinterpret_cast<std::uintptr_t>(to) % wide_bytes;
  for (; done + wide_step_bytes <= size; done += wide_step_bytes) copy_step(to + done, from + done);
  copy_step(to + size - wide_step_bytes, from + size - wide_step_bytes);
}

/// `to` is the beginning of a line, `size` whole lines.
__attribute__((target("avx2"))) void stream_lines(std::byte* to, const std::byte* from,
                                                  std::size_t size) noexcept {
  for (std::size_t done = 0; done < size; done += vector_bytes)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + done), load(from + done));
  // Streaming stores are not ordered with the release store that publishes the bytes.
  _mm_sfence();
}

const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
/// The first processors with such vectors run slower while they are in use. Those that also have
/// this extension do not.
const bool has_quick_avx512 = __builtin_cpu_supports("avx512vbmi2") != 0;

}  // namespace
#endif

void copy_by_vectors(std::byte* to, const std::byte* from, std::size_t size) noexcept {
#if defined(__x86_64__)
  if (has_avx2) return copy_by_avx2(to, from, size);
#endif
  std::memcpy(to, from, size);
}

void copy_by_wide_vectors(std::byte* to, const std::byte* from, std::size_t size) noexcept {
#if defined(__x86_64__)
  if (has_quick_avx512) return copy_by_avx512(to, from, size);
#endif
  copy_by_vectors(to, from, size);
}

void copy_by_streaming_stores(std::byte* to, const std::byte* from, std::size_t size) noexcept {
#if defined(__x86_64__)
  if (has_avx2) {
    // Only whole lines: a line that is written in part has to be read first.
    constexpr std::size_t line_bytes = 64;
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

}  // namespace headway::base::detail
