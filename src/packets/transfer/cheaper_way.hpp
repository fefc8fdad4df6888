#pragma once

#include <atomic>
#include <cstdint>

#include "base/clearly_longer.hpp"
#include "packets/transfer/get_choice.hpp"
#include "rails/memory.hpp"

namespace headway::packets {

/// Decides whether the receiver gets a large message or its sender puts it, while this process
/// sends large messages to the same peer: the messages cross. Both processors then copy for both
/// directions, so that the way is chosen that costs less time of both together. The time of a
/// single message does not show that: with a put the sender does half of the copying, and the
/// message arrives sooner even if both together need longer (docs/decisions, 50).
///
/// The receiver gets the message only if a put costs clearly more: the two costs are measured at
/// different moments.
///
/// Threads:  any. The count is relaxed: it carries no data.
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
