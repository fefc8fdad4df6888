#pragma once

#include <span>
#include <vector>

namespace headway::sampling {

/// To a peer over one interface, at most.
constexpr int connections_max = 8;

/// What a stream over so many connections at once was measured to carry, a number for each round.
struct stream_rates {
  int connections = 1;
  std::vector<double> bytes_per_ns;

  [[nodiscard]] bool sensible() const noexcept;
  [[nodiscard]] double usual() const;  ///< the median
};

/// Of both directions together, round by round: a byte there and one back. So that more connections
/// do not count as better where they gain on one way what they lose on the other.
[[nodiscard]] std::vector<stream_rates> there_and_back(std::span<const stream_rates> there,
                                                       std::span<const stream_rates> back);

/// How many connections pay, from streams over one and over more of them, fewer first: the smallest
/// number that more do not improve upon. More count as better when the usual rate is a tenth higher
/// and every round but one faster than every round but one of fewer: what a busy machine does to
/// some rounds is no gain. Of seven rounds of nothing but noise, one in a hundred looks like one.
///
/// A connection more costs: packets to a peer with several are numbered and kept (packets/bundle).
/// Errors:   what makes no sense, or has less than four rounds, counts as not measured; without a
///           stream over one: 1.
[[nodiscard]] int connections_that_pay(std::span<const stream_rates> measured);

}  // namespace headway::sampling
