#include "sampling/profile.hpp"

namespace headway::sampling {

profile profile::guessed(double latency_ns, double bytes_per_ns) noexcept {
  return {.piece = curve::straight(latency_ns, bytes_per_ns),
          .eager = curve::straight(latency_ns, bytes_per_ns),
          .cost = curve::straight(latency_ns / 4, 4 * bytes_per_ns)};
}

std::uint64_t profile::rendezvous_bytes(std::uint64_t eager_bytes_max) const noexcept {
  const auto announcing_pays = [&](std::uint64_t bytes) {
    return 2 * eager.latency_ns() + piece.ns_for(bytes) <= eager.ns_for(bytes);
  };
  if (eager_bytes_max == 0 || !announcing_pays(eager_bytes_max)) return eager_bytes_max;
  // The gain may come and go with noise among small sizes: what counts is where it stays.
  std::uint64_t pays = eager_bytes_max;
  std::uint64_t does_not = 0;
  for (std::uint64_t bytes = std::bit_floor(eager_bytes_max); bytes > 0; bytes /= 2) {
    if (!announcing_pays(bytes)) {
      does_not = bytes;
      break;
    }
    pays = bytes;
  }
  while (pays - does_not > 1) {
    const auto middle = does_not + (pays - does_not) / 2;
    (announcing_pays(middle) ? pays : does_not) = middle;
  }
  return pays;
}

}  // namespace headway::sampling
