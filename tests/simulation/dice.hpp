#pragma once

#include <cstdint>

namespace headway::simulation {

/// Random numbers of one seed: the same on every machine, with every compiler.
/// Threads:  one.
/// Source:   S. Vigna, splitmix64 (public domain algorithm; prng.di.unimi.it).
class dice {
 public:
  explicit dice(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [0, end). `end` is not 0.
  std::uint64_t below(std::uint64_t end) noexcept { return next() % end; }
  /// In [first, last].
  std::uint64_t between(std::uint64_t first, std::uint64_t last) noexcept {
    return first + below(last - first + 1);
  }
  /// True once in so many times, on average; never if `times` is 0.
  bool one_in(std::uint64_t times) noexcept { return times != 0 && below(times) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace headway::simulation
