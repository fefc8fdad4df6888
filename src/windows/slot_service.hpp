#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "messages/exchange.hpp"
#include "processes/process.hpp"
#include "progress/core/ltask.hpp"
#include "rails/memory.hpp"
#include "windows/control_line.hpp"
#include "windows/exposed_memory.hpp"
#include "windows/request_slot.hpp"

namespace headway::windows {

/// Carries out what origins of the node request in this process's slots, whenever a thread of it
/// polls. While none does, origins withdraw what they have requested (slot_client.hpp). Shows them
/// that threads poll, and whether one that waits sleeps.
/// Threads:  `serve` any, several at once: a slot is served by one of them.
/// Progress: never waits: while other processes change elements, it leaves such requests alone.
///           For a while after a request, a thread that waits is told that something advances, so
///           that it stays awake: more requests are likely to come. A thread that does not wait
///           makes no large copies.
class slot_service final : public progress::ltask {
 public:
  /// What it serves; outlives it.
  struct parts {
    request_slots& slots;
    staging staged;  ///< may be none
    exposed_memory& memory;
    control_line& line;
    lock_holder me;
    rails::memory* copies = nullptr;                 ///< null: it does not copy from or to origins
    std::vector<processes::peer_id> processes = {};  ///< by rank
  };
  explicit slot_service(parts of) noexcept;
  ~slot_service() { stop(); }

  void start(progress::engine& engine) noexcept;
  void stop() noexcept;

  /// True: it has served at least one.
  bool serve() noexcept;
  /// Operations of an origin are about to come: a thread that waits should stay awake for a while.
  void expect() noexcept;

 private:
  [[nodiscard]] bool serve(request_slot& slot) noexcept;
  void carry_out(request_slot& slot) noexcept;
  void put_all(request_slot& slot) noexcept;
  /// Copies between the window and the origin's memory. False: the kernel refuses, or the thread
  /// does not wait.
  [[nodiscard]] bool copy(const request_slot& slot, std::byte* there, std::size_t bytes) noexcept;
  /// Where the operand is; null: it is too long.
  [[nodiscard]] std::byte* operand_of(request_slot& slot, std::size_t bytes) noexcept;

  void expect_until(std::uint64_t ns) noexcept;
  /// The ltask.
  [[nodiscard]] progress::ltask_result poll() noexcept;

  const parts of_;
  // Until when a waiting thread counts as busy. 0: not. Relaxed: a hint.
  std::atomic<std::uint64_t> expected_until_ns_{0};
  progress::engine* engine_ = nullptr;  // null: not started
  base::clock clock_;                   // that of the engine
};

}  // namespace headway::windows
