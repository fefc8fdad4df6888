#pragma once

#include <array>
#include <cmath>
#include <random>

#include "sampling/curve.hpp"

namespace headway::sampling {

/// Rails of every kind: straight, with steps between protocols, noisy, and random.
inline curve any_curve(std::mt19937_64& random) {
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution(low, high)(random);
  };
  const auto kind = random() % 6;
  const double latency = std::exp(between(std::log(100), std::log(1e6)));
  const double rate = std::exp(between(std::log(1e-3), std::log(20)));
  if (kind == 0) return curve::straight(latency, rate);
  std::array<double, curve::sample_count> ns{};
  for (std::size_t i = 0; i < ns.size(); ++i) {
    const double straight = latency + static_cast<double>(curve::bytes_of(i)) / rate;
    switch (kind) {
      case 1:  // a step up, from eager to rendezvous
        ns[i] = straight + (i > 15 ? 3 * latency : 0);
        break;
      case 2:  // noise of a factor of two
        ns[i] = straight * between(0.7, 1.4);
        break;
      case 3:  // gaps
        ns[i] = random() % 3 == 0 ? straight : 0;
        break;
      case 4:  // a plateau: every size takes the same
        ns[i] = latency;
        break;
      default:  // nothing fits together
        ns[i] = std::exp(between(std::log(1e-2), std::log(1e14)));
    }
  }
  ns[random() % ns.size()] = latency;
  return *curve::from_samples(ns);
}

}  // namespace headway::sampling
