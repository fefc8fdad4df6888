#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "progress/core/engine.hpp"
#include "progress/core/meter.hpp"
#include "watch/page.hpp"
#include "watch/settings.hpp"

namespace headway::watch {

/// The process that an observer reports on.
struct observed {
  progress::engine& progress;
  int rank = 0, size = 0;  ///< in the job; size 0: the process belongs to no job
  std::string job = {};    ///< the job's unique name; empty without a job
  /// Unless null: adds rows with the counters of the module that makes the observer.
  void (*add_rows)(void* above, const std::vector<progress::meter::report>& threads,
                   page_image& image) = nullptr;
  void* above = nullptr;
};

/// Gathers the counters of threads, queues and rails, publishes them for `headway top`, prints them
/// at the end, and writes the timeline. Does nothing, and has no thread, unless the settings ask.
/// Shape:    a thread that copies the counters four times a second, about 20 us each time. In the
///           build without threads, the engine's ticks do it while operations are pending.
/// Threads:  one at a time.
/// Progress: `finish` waits for that thread; `write_timeline` waits for other processes that write
///           to the file.
/// Errors:   one line in the log for what cannot be published or written; no other effect.
class observer {
 public:
  observer(const observed& what, settings chosen);
  ~observer();
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;

  /// Publishes the counters for the last time and prints the table. Call it while rails and engine
  /// exist.
  void finish() noexcept;
  /// Entries that the timeline will have besides those of the engine, in JSON, each after a comma.
  void add_to_timeline(std::string_view entries);
  /// Writes the timeline. Call it after the engine's threads have ended.
  void write_timeline() noexcept;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace headway::watch
