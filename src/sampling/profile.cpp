#include "sampling/profile.hpp"

#include "base/assert.hpp"
#include "sampling/threshold.hpp"

namespace headway::sampling {

profile profile::guessed(double latency_ns, double bytes_per_ns) noexcept {
  HEADWAY_ASSERT(latency_ns >= 0 && bytes_per_ns >= 0);
  return {.piece = curve::straight(latency_ns, bytes_per_ns),
          .eager = curve::straight(latency_ns, bytes_per_ns),
          .cost = curve::straight(latency_ns / 4, 4 * bytes_per_ns)};
}

std::uint64_t profile::rendezvous_bytes(std::uint64_t eager_bytes_max) const noexcept {
  return threshold(eager_bytes_max, [&](std::uint64_t bytes) {
    return 2 * eager.latency_ns() + piece.ns_for(bytes) <= eager.ns_for(bytes);
  });
}

bool differ(const profile& one, const profile& other) noexcept {
  const auto apart = [](double a, double b) { return a > b * 1.25 || b > a * 1.25; };
  for (const std::uint64_t bytes : {std::uint64_t{1} << 16, std::uint64_t{1} << 20})
    if (apart(one.piece.ns_for(bytes), other.piece.ns_for(bytes))) return true;
  return false;
}

}  // namespace headway::sampling
