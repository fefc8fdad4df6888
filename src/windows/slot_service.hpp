#pragma once

#include "messages/exchange.hpp"
#include "progress/core/ltask.hpp"
#include "windows/control_line.hpp"
#include "windows/exposed_memory.hpp"
#include "windows/request_slot.hpp"

namespace headway::windows {

/// Carries out what origins of the node ask for in this process's slots, whenever a thread of it
/// polls. While none does, origins withdraw what they have asked for (slot_way.hpp).
/// Threads:  `serve` any, several at once: a slot is served by one of them.
/// Progress: never waits: while other processes change elements, it leaves such requests alone.
class slot_service final : public progress::ltask {
 public:
  slot_service(request_slots& slots, exposed_memory& memory, control_line& line,
               lock_holder me) noexcept;
  ~slot_service() { stop(); }

  void start(progress::engine& engine) noexcept;
  void stop() noexcept;

  /// True: it has served at least one.
  bool serve() noexcept;

 private:
  [[nodiscard]] bool serve(request_slot& slot) noexcept;
  void carry_out(request_slot& slot) noexcept;

  request_slots& slots_;
  exposed_memory& memory_;
  control_line& line_;
  const lock_holder me_;
  progress::engine* engine_ = nullptr;  // null: not started
};

}  // namespace headway::windows
