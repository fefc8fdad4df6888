#pragma once

#include "packets/strategy.hpp"

namespace headway::packets::strategies {

/// Predicts from profiles. A large message is divided so that all rails end together, each starting
/// when it is free. A packet waits for a busy rail if that would still deliver it sooner; others
/// leave together at once.
///
/// A rail without a profile is given its driver's latency and a middling rate. Because pieces are
/// requested one by one and the division is repeated, a wrong guess costs at most the end of one
/// piece.
/// Source:   multirail08, sections II-B and III-B.
class sampled final : public strategy {
 public:
  /// A smaller share is not worth a piece, because of the cost of handling one at both ends.
  static constexpr std::uint64_t piece_bytes_min = 8 * 1024;

  [[nodiscard]] std::size_t choose(const backlog& waiting, std::uint32_t rail,
                                   std::span<const rail_state> rails,
                                   const frame_room& room) const noexcept override;
  [[nodiscard]] std::size_t split(const remainder& what, std::span<const rail_state> rails,
                                  std::span<piece> pieces) const noexcept override;
};

}  // namespace headway::packets::strategies
