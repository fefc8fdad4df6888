#pragma once

#include "packets/strategy.hpp"

namespace headway::packets::strategies {

/// By prediction: a large message is divided so that all rails end together, each beginning when
/// it is free; a packet waits for a busy rail that would still deliver it sooner, others leave
/// together at once.
///
/// A rail without a profile counts as one of its driver's latency and of a middling rate; because
/// pieces are pulled and the question is asked again, a wrong guess costs the end of one piece.
/// Source:   multirail08, sections II-B and III-B.
class sampled final : public strategy {
 public:
  /// A share below it is not worth a piece: what handling one costs at both ends.
  static constexpr std::uint64_t piece_bytes_min = 8 * 1024;

  [[nodiscard]] std::size_t choose(const backlog& waiting, std::uint32_t rail,
                                   std::span<const rail_state> rails, const frame_room& room,
                                   std::span<const send_item*> frame) const noexcept override;
  [[nodiscard]] std::size_t split(const remainder& what, std::uint64_t now_ns,
                                  std::span<const rail_state> rails,
                                  std::span<piece> pieces) const noexcept override;
};

}  // namespace headway::packets::strategies
