#pragma once

#include <atomic>
#include <cstdint>

#include "base/clearly_longer.hpp"
#include "packets/transfer/get_choice.hpp"
#include "rails/memory.hpp"

namespace headway::packets {

/// Decides whether the receiver gets a large message or its sender puts it, while this process
/// sends large messages to the same peer. Both processes then copy in both directions, and what one
/// of them spends for a message is missing for the messages of the other direction. So the way is
/// taken that needs less processor time of both together, not the one by which single messages
/// arrive sooner: that would be the put for each of them, because half of its work is the peer's,
/// and all together would take longer.
///
/// A get is the cheaper way only if the put takes clearly longer: the two figures come of different
/// moments, and if they are close the way hardly matters.
///
/// Threads:  any. The count is relaxed: it carries nothing.
class cheaper_way {
 public:
  using way = get_choice::way;
  static constexpr std::uint32_t retry_period = 256;  ///< one message goes the other way

  [[nodiscard]] way choose(const rails::copy_costs& seen) noexcept {
    if (seen.put == 0) return way::put;
    if (seen.get == 0) return way::get;
    const bool other = count_.fetch_add(1, std::memory_order_relaxed) % retry_period == 0;
    return base::clearly_longer(seen.put, seen.get) != other ? way::get : way::put;
  }

 private:
  std::atomic<std::uint32_t> count_{1};
};

}  // namespace headway::packets
