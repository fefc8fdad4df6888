// How long the division of a message over rails takes. It is done for each large message, so it
// must be short compared with sending one: the aim is below 2 us for four rails.
#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <vector>

#include "sampling/division.hpp"

namespace {

using headway::sampling::curve;

/// A rail with steps as real ones have: its protocol changes at 64 KB, cache effects at 1 MB.
curve rail(double latency_ns, double rate) {
  std::array<double, curve::sample_count> ns{};
  for (std::size_t i = 0; i < ns.size(); ++i) {
    const auto bytes = static_cast<double>(curve::bytes_of(i));
    ns[i] = latency_ns * (i > 16 ? 3 : 1) + bytes / (i > 20 ? rate : rate * 1.3);
  }
  return *curve::from_samples(ns);
}

void divide_over(benchmark::State& state) {
  std::vector<curve> curves;
  for (int i = 0; i < state.range(0); ++i)
    curves.push_back(rail(9'000 + 4'000 * i, 0.125 / (1 + i)));
  std::vector<headway::sampling::way> ways;
  for (const auto& c : curves)
    ways.push_back({.time = &c, .busy_ns = 1000.0 * static_cast<double>(ways.size())});
  std::vector<std::uint64_t> shares(ways.size());
  std::uint64_t bytes = static_cast<std::uint64_t>(state.range(1));
  for (auto _ : state) {
    benchmark::DoNotOptimize(headway::sampling::divide(ways, bytes, shares, 4096));
    bytes ^= 4096;
  }
}
BENCHMARK(divide_over)->ArgsProduct({{2, 3, 4, 8, 16}, {256 << 10, 1 << 20, 16 << 20, 64 << 20}});

}  // namespace

BENCHMARK_MAIN();
