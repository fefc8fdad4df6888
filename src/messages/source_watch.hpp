#pragma once

#include <atomic>

#include "progress/core/engine.hpp"
#include "progress/core/ltask.hpp"

namespace headway::messages {

class context;
struct exchange_parts;

/// Makes peers of the processes that a receive or a probe has been waiting for, where a rail would
/// then notice their end: one that died before it was ever used is found in this way.
///
/// Shape:    looks about every 100 ms; where any source will do, at `sources_max` of them each
///           time.
/// Threads:  `look_soon` any; the look itself is an ltask, as the rails' are.
/// Progress: a look waits for the router of each new peer.
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
    std::atomic<bool> submitted{false};  // relaxed: only whether to submit it again
  };
  static void tick(void* self) noexcept;
  static progress::ltask_result run(progress::ltask& self) noexcept;
  static void look_in(exchange_parts& parts, context& where) noexcept;

  look task_;
};

}  // namespace headway::messages
