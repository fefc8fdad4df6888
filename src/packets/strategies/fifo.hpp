#pragma once

#include "packets/strategy.hpp"

namespace headway::packets::strategies {

/// Packets in order, each alone; each large message whole. On the rail that will be free first; of
/// several free ones, on the nearest.
class fifo final : public strategy {
 public:
  [[nodiscard]] std::size_t choose(const backlog& waiting, std::uint32_t rail,
                                   std::span<const rail_state> rails,
                                   const frame_room& room) const noexcept override;
  [[nodiscard]] std::size_t split(const remainder& what, std::span<const rail_state> rails,
                                  std::span<piece> pieces) const noexcept override;
  [[nodiscard]] bool collects() const noexcept override { return false; }
};

}  // namespace headway::packets::strategies
