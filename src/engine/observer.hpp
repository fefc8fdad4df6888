#pragma once

#include <cstdint>
#include <memory>

#include "packets/peers.hpp"
#include "progress/engine.hpp"

namespace headway::engine {

/// Whom an observer looks at.
struct observed {
  int rank = 0, size = 1;
  progress::engine& progress;
  packets::peers& peers;
};

/// Whether HEADWAY_STATS asks for statistics: then rails must be wrapped in `counted_rail`.
[[nodiscard]] bool statistics_wanted();

/// Gathers what threads, queues and rails count, shows it to `headway top`, prints it at the end,
/// and writes the timeline. Does nothing, and has no thread, unless HEADWAY_STATS or HEADWAY_TRACE
/// asks.
/// Shape:    a thread that copies the counters four times a second: about 20 us each time.
/// Threads:  alone.
/// Progress: `finish` waits for that thread, and for the other processes that write to the file.
/// Errors:   what cannot be shown or written is said in one line in the log; nothing else suffers.
class observer {
 public:
  explicit observer(const observed& what);
  ~observer();
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;

  /// The last numbers, and the table. Before rails and engine are taken down.
  void finish() noexcept;
  /// After the engine's threads have ended.
  void write_timeline() noexcept;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace headway::engine
