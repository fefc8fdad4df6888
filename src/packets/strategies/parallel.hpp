#pragma once

#include "packets/strategies/sampled.hpp"
#include "packets/strategy.hpp"

namespace headway::packets::strategies {

/// As `sampled`; besides, a packet of medium size leaves in parts over several idle rails, which
/// several processors serve at once, if the predicted gain exceeds the cost of waking a thread.
///
/// Uses only rails whose packet times were measured (`headway sample`): a guess predicts no gain.
/// Source:   multirail08, section III-D (mechanism 17).
class parallel final : public strategy {
 public:
  /// A smaller part is not worth a frame of its own.
  static constexpr std::uint64_t part_bytes_min = 2 * 1024;

  [[nodiscard]] std::size_t choose(const backlog& waiting, std::uint32_t rail,
                                   std::span<const rail_state> rails,
                                   const frame_room& room) const noexcept override;
  [[nodiscard]] std::size_t split(const remainder& what, std::span<const rail_state> rails,
                                  std::span<piece> pieces) const noexcept override;
  [[nodiscard]] std::size_t cut(std::uint64_t bytes, std::uint32_t rail,
                                std::span<const rail_state> rails, const helpers& threads,
                                std::span<piece> pieces) const noexcept override;
};

}  // namespace headway::packets::strategies
