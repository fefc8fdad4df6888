#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "packets/send_item.hpp"
#include "packets/strategy.hpp"

namespace headway::packets {

/// Where the scheduler sends packets: the only rail of a peer, or its bundle of rails.
/// Threads:  every function by the holder of the scheduler's mask.
/// Progress: must not wait.
class packet_sender {
 public:
  enum class answer : std::uint8_t {
    taken,  ///< they have left; `sent` was or will be called
    retry,  ///< this rail takes nothing now
    full,   ///< no rail takes anything now
    down,   ///< the peer is not reached any more
  };
  /// The limits of one rail packet.
  struct limits {
    frame_room wanted;          ///< what the strategy gets as its limit
    std::size_t bytes_max = 0;  ///< the limit for more than one packet, as `room_in_frame` counts
  };

  /// Sends what must leave before any packet. False: no packet may leave now.
  [[nodiscard]] virtual bool prepare() noexcept = 0;
  /// The rail on which so many bytes would be finished first, after what was given to it before,
  /// among those that take something now and whose bit in `passed_over` is not set; -1: there is
  /// none.
  [[nodiscard]] virtual int idle_rail(std::uint32_t passed_over,
                                      std::size_t bytes) const noexcept = 0;
  /// The rails as strategies see them; returns how many.
  [[nodiscard]] virtual std::size_t describe(std::span<rail_state> states) const noexcept = 0;
  [[nodiscard]] virtual limits room() const noexcept = 0;
  /// Sends the only waiting packet in parts over several rails, `on` among them. False: it was not
  /// taken.
  [[nodiscard]] virtual bool send_in_parts(std::uint32_t on, send_item& item) noexcept = 0;
  /// Sends them in one rail packet. If the answer is not `taken`, they are unchanged.
  [[nodiscard]] virtual answer send(std::uint32_t on,
                                    std::span<send_item* const> chosen) noexcept = 0;
  /// The end of a round. `flowing`: no packet waits.
  virtual void finish(bool flowing) noexcept = 0;
  /// The peer is lost: everything else that waits here is ended.
  virtual void drop() noexcept = 0;

 protected:
  ~packet_sender() = default;
};

}  // namespace headway::packets
