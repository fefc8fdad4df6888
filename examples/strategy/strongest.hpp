#pragma once

#include <algorithm>

#include "packets/send_item.hpp"
#include "packets/strategy.hpp"
#include "sampling/profile.hpp"

namespace headway::examples {

/// Everything over the rail with the highest rate, large messages too: for a machine where a
/// second rail is there for others.
class strongest final : public packets::strategy {
 public:
  [[nodiscard]] std::size_t choose(
      const packets::backlog& waiting, std::uint32_t rail,
      std::span<const packets::rail_state> rails, const packets::frame_room&,
      std::span<const packets::send_item*> frame) const noexcept override {
    if (waiting.count == 0) return 0;
    const auto best = strongest_of(rails);
    // To leave a packet waiting is allowed only for a rail that is busy: it will ask again.
    if (rail != best && rails[best].now == packets::rail_state::condition::busy) return 0;
    frame[0] = waiting.first;
    return 1;
  }

  [[nodiscard]] std::size_t split(const packets::remainder& what, std::uint64_t,
                                  std::span<const packets::rail_state> rails,
                                  std::span<packets::piece> pieces) const noexcept override {
    pieces[0] = {.offset = what.offset, .bytes = what.bytes, .rail = strongest_of(rails)};
    return 1;
  }

 private:
  static std::uint32_t strongest_of(std::span<const packets::rail_state> rails) noexcept {
    const auto rate = [](const packets::rail_state& r) {
      if (r.now == packets::rail_state::condition::down) return -1.0;
      return r.profile ? r.profile->piece.rate() : 0.0;
    };
    return static_cast<std::uint32_t>(std::ranges::max_element(rails, {}, rate) - rails.begin());
  }
};

}  // namespace headway::examples
