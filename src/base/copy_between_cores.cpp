#include "base/copy_between_cores.hpp"

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

const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;

}  // namespace
#endif

void copy_by_vectors(std::byte* to, const std::byte* from, std::size_t size) noexcept {
#if defined(__x86_64__)
  if (has_avx2) return copy_by_avx2(to, from, size);
#endif
  std::memcpy(to, from, size);
}

}  // namespace headway::base::detail
