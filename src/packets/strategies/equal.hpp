#pragma once

#include "packets/strategy.hpp"

namespace headway::packets::strategies {

/// Divides a large message into equal parts over all rails that are not down, without regard to
/// their rates: the baseline for `sampled`. Small packets as in `aggregate`.
/// Source:   multirail08, section IV-A ("iso-split").
class equal final : public strategy {
 public:
  [[nodiscard]] std::size_t choose(const backlog& waiting, std::uint32_t rail,
                                   std::span<const rail_state> rails,
                                   const frame_room& room) const noexcept override;
  [[nodiscard]] std::size_t split(const remainder& what, std::span<const rail_state> rails,
                                  std::span<piece> pieces) const noexcept override;
};

}  // namespace headway::packets::strategies
