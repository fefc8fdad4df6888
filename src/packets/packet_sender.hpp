#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "packets/send_item.hpp"
#include "packets/strategy.hpp"

namespace headway::packets {

/// What the scheduler gives packets to: the only rail of a peer, or its bundle of rails.
/// Threads:  every function by the holder of the scheduler's mask.
/// Progress: must not wait.
class packet_sender {
 public:
  enum class answer : std::uint8_t {
    taken,  ///< they have left, and their ends were told or will be
    retry,  ///< this rail takes nothing now
    full,   ///< no rail takes anything now
    down,   ///< the peer is not reached any more
  };
  /// What one rail packet may hold.
  struct limits {
    frame_room wanted;          ///< what a strategy is told
    std::size_t bytes_max = 0;  ///< that it may not exceed with more than one packet, as
                                ///< `room_in_frame` counts
  };

  /// Sends what goes before any packet. False: no packet may leave now.
  [[nodiscard]] virtual bool prepare() noexcept = 0;
  /// Of the rails that take something now and are not in the bits of `passed_over`, the one on
  /// which so many bytes would end first, what was given to it before included; -1: there is none.
  [[nodiscard]] virtual int idle_rail(std::uint32_t passed_over,
                                      std::size_t bytes) const noexcept = 0;
  /// The rails as strategies see them; returns how many.
  [[nodiscard]] virtual std::size_t describe(std::span<rail_state> states) const noexcept = 0;
  [[nodiscard]] virtual limits room() const noexcept = 0;
  /// May the packet, which waits alone, leave in parts over several rails, `on` among them? False:
  /// it was not taken.
  [[nodiscard]] virtual bool send_in_parts(std::uint32_t on, send_item& item) noexcept = 0;
  /// Sends them in one rail packet. Unless they are `taken`, they are as before.
  [[nodiscard]] virtual answer send(std::uint32_t on,
                                    std::span<send_item* const> chosen) noexcept = 0;
  /// The end of a round. `flowing`: no packet waits.
  virtual void finish(bool flowing) noexcept = 0;
  /// The peer is lost: whatever else waits has its end.
  virtual void drop() noexcept = 0;

 protected:
  ~packet_sender() = default;
};

}  // namespace headway::packets
