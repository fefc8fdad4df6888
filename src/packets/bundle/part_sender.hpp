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

/// Sends one packet in parts over several rails at once, each part given to its rail by a processor
/// of its own. A part is a frame like others, numbered, kept and sent again; one whose `packets` is
/// 0 goes on in the next one.
/// Threads:  S, the holder of the scheduler's mask; `help` is run by the engine; `end_help` alone.
/// Source:   multirail08, section III-D.
class part_sender {
 public:
  part_sender(frame_sender& frames, const bundle_context& of, progress::engine& engine) noexcept
      : frames_(frames), of_(of), engine_(engine) {}

  /// The packet waits alone and is in no list any more; `on` is idle. False: it leaves whole.
  [[nodiscard]] bool send(std::uint32_t on, send_item& item) noexcept;
  /// What the helpers have answered.
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
  std::uint32_t lent_ = 0;  // bits of lanes whose helper has something
};

}  // namespace headway::packets
