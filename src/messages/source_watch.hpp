#pragma once

#include <atomic>

#include "progress/core/engine.hpp"
#include "progress/core/ltask.hpp"

namespace headway::messages {

class context;
struct exchange_parts;

/// Detects the death of processes that a receive or probe waits for and that were never used: makes
/// them peers, so that their rails notice when they end. In the same look, detects collective
/// operations that cannot succeed (failing_operations).
/// Shape:    runs at the engine's ticks, about every 100 ms; for `any_source`, makes
///           at most `sources_max` peers each time.
/// Threads:  `start` and `stop` one thread; the search itself is an ltask.
/// Progress: the search waits until each new peer's rails are matched.
class source_watch {
 public:
  explicit source_watch(exchange_parts& of) noexcept : task_(of) {}

  void start();
  void stop() noexcept;

 private:
  static constexpr int sources_max = 32;

  struct look : progress::ltask {
    explicit look(exchange_parts& of) noexcept;
    exchange_parts& parts;
    // (R) release at the end of a run -> acquire before the next submission: it passes the ltask,
    // which the queue of the last run has written, to the thread that submits it again.
    std::atomic<bool> submitted{false};
  };
  static void tick(void* self) noexcept;
  static progress::ltask_result run(progress::ltask& self) noexcept;
  static void look_in(exchange_parts& parts, context& where) noexcept;

  look task_;
};

}  // namespace headway::messages
