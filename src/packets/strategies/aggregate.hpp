#pragma once

#include "packets/strategies/fifo.hpp"
#include "packets/strategy.hpp"

namespace headway::packets::strategies {

/// Packets that have waited for the same rail leave together, urgent ones first: one frame costs
/// the rail one fixed price instead of one for each. For other strategies to use as theirs, too.
/// Source:   multirail08, section 3.2; thread09 (aggregation).
[[nodiscard]] std::size_t choose_together(const backlog& waiting, const frame_room& room,
                                          std::span<const send_item*> frame) noexcept;

/// `choose_together` for what waits; large messages go whole, as `fifo` has them.
class aggregate final : public strategy {
 public:
  [[nodiscard]] std::size_t choose(const backlog& waiting, std::uint32_t rail,
                                   std::span<const rail_state> rails, const frame_room& room,
                                   std::span<const send_item*> frame) const noexcept override;
  [[nodiscard]] std::size_t split(const remainder& what, std::uint64_t now_ns,
                                  std::span<const rail_state> rails,
                                  std::span<piece> pieces) const noexcept override;
};

}  // namespace headway::packets::strategies
