#pragma once

#include <cstdint>
#include <span>

#include "packets/bundle/bundle_host.hpp"
#include "packets/send_item.hpp"
#include "packets/strategy.hpp"
#include "progress/core/engine.hpp"
#include "progress/core/ltask.hpp"

namespace headway::packets {

class frame_sender;

/// Sends one packet in parts over several rails at once; each part is given to its rail on another
/// processor. Each part is a frame as any other: numbered, kept, sent again. A frame whose
/// `packets` is 0 continues in the next frame.
/// Threads:  S, the holder of the scheduler's mask; `help` is run by the engine; `end_help` alone.
/// Source:   multirail08, section III-D.
class part_sender {
 public:
  part_sender(frame_sender& frames, const bundle_context& of, progress::engine& engine) noexcept
      : frames_(frames), of_(of), engine_(engine) {}

  /// The packet waits alone and is in no list any more; `on` is idle. False: it was not taken.
  [[nodiscard]] bool send(std::uint32_t on, send_item& item) noexcept;
  /// Collects the results of the helpers.
  void take_back() noexcept;
  /// The body of each lane's helper.
  static progress::ltask_result help(progress::ltask& self) noexcept;

 private:
  [[nodiscard]] bool sound(std::span<const piece> parts, std::uint64_t bytes,
                           std::uint32_t on) const noexcept;
  [[nodiscard]] bool send_parts(send_item& item, std::span<const piece> parts) noexcept;
  void lend(std::uint32_t number) noexcept;

  frame_sender& frames_;
  const bundle_context& of_;
  progress::engine& engine_;
  std::uint32_t lent_ = 0;  // bits of lanes whose helper is at work
};

}  // namespace headway::packets
