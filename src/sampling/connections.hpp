#pragma once

#include <span>
#include <vector>

namespace headway::sampling {

/// To a peer over one interface, at most.
constexpr int connections_max = 8;

/// The measured rates of a stream over so many connections at once, a number for each round.
struct stream_rates {
  int connections = 1;
  std::vector<double> bytes_per_ns;

  [[nodiscard]] bool sensible() const noexcept;
  [[nodiscard]] double usual() const;  ///< the median
};

/// The rate of both directions together, round by round: a byte there and one back. So more
/// connections do not count as better if they gain in one direction what they lose in the other.
[[nodiscard]] std::vector<stream_rates> there_and_back(std::span<const stream_rates> there,
                                                       std::span<const stream_rates> back);

/// How many connections pay, from streams over one and over more of them, fewer first: the smallest
/// number that larger ones do not improve upon. A larger number counts as better if its usual rate
/// is a tenth higher and every round but one is faster than every round but one of the smaller:
/// what a busy machine does to some rounds is no gain. Of seven rounds of pure noise, one in a
/// hundred looks like a gain.
///
/// Another connection has a cost: packets to a peer with several are numbered and kept
/// (packets/bundle).
/// Errors:   invalid streams, and those with less than four rounds, are ignored; without a stream
///           over one connection: 1.
[[nodiscard]] int connections_that_pay(std::span<const stream_rates> measured);

}  // namespace headway::sampling
