#pragma once

#include "packets/strategies/fifo.hpp"
#include "packets/strategy.hpp"

namespace headway::packets::strategies {

/// As many of the packets that wait as fit into one frame: it has one fixed cost on the rail,
/// instead of one for each packet. Other strategies use it, too.
/// Source:   multirail08, section 3.2; thread09 (aggregation).
[[nodiscard]] std::size_t choose_together(const backlog& waiting, const frame_room& room) noexcept;

/// `choose_together` for packets; large messages go whole, as in `fifo`.
class aggregate final : public strategy {
 public:
  [[nodiscard]] std::size_t choose(const backlog& waiting, std::uint32_t rail,
                                   std::span<const rail_state> rails,
                                   const frame_room& room) const noexcept override;
  [[nodiscard]] std::size_t split(const remainder& what, std::span<const rail_state> rails,
                                  std::span<piece> pieces) const noexcept override;
};

}  // namespace headway::packets::strategies
