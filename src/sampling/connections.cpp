#include "sampling/connections.hpp"

#include <algorithm>
#include <cmath>

#include "base/assert.hpp"

namespace headway::sampling {
namespace {

constexpr double gain_min = 1.1;
constexpr std::size_t rounds_min = 4;

/// So many rounds are slower than the usual one.
double above(std::vector<double> all, std::size_t count) {
  HEADWAY_ASSERT(count < all.size());
  const auto at = all.begin() + static_cast<std::ptrdiff_t>(count);
  std::ranges::nth_element(all, at);
  return *at;
}

bool better(const stream_rates& more, const stream_rates& fewer) {
  const auto last_but_one = fewer.bytes_per_ns.size() - 2;
  return more.usual() >= gain_min * fewer.usual() &&
         above(more.bytes_per_ns, 1) > above(fewer.bytes_per_ns, last_but_one);
}

}  // namespace

bool stream_rates::sensible() const noexcept {
  return connections >= 1 && connections <= connections_max && bytes_per_ns.size() >= rounds_min &&
         std::ranges::all_of(bytes_per_ns, [](double r) { return std::isfinite(r) && r > 0; });
}

double stream_rates::usual() const { return above(bytes_per_ns, bytes_per_ns.size() / 2); }

std::vector<stream_rates> there_and_back(std::span<const stream_rates> there,
                                         std::span<const stream_rates> back) {
  std::vector<stream_rates> both;
  for (const auto& one : there) {
    const auto other = std::ranges::find(back, one.connections, &stream_rates::connections);
    if (other == back.end()) continue;
    auto& made =
        both.emplace_back(stream_rates{.connections = one.connections, .bytes_per_ns = {}});
    const auto rounds = std::min(one.bytes_per_ns.size(), other->bytes_per_ns.size());
    for (std::size_t i = 0; i < rounds; ++i)
      made.bytes_per_ns.push_back(2 / (1 / one.bytes_per_ns[i] + 1 / other->bytes_per_ns[i]));
  }
  return both;
}

int connections_that_pay(std::span<const stream_rates> measured) {
  const stream_rates* best = nullptr;
  for (const auto& m : measured) {
    if (!m.sensible()) continue;
    if (!best && m.connections != 1) break;
    if (!best || (m.connections > best->connections && better(m, *best))) best = &m;
  }
  return best ? best->connections : 1;
}

}  // namespace headway::sampling
