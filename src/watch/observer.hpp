#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "progress/core/engine.hpp"
#include "progress/core/meter.hpp"
#include "watch/page.hpp"
#include "watch/settings.hpp"

namespace headway::watch {

/// What an observer looks at.
struct observed {
  progress::engine& progress;
  int rank = 0, size = 0;  ///< of a job; size 0: the process belongs to none
  std::string job = {};    ///< its name, unlike that of any other; empty where there is none
  /// Adds what a module above counts, unless null.
  void (*add_rows)(void* above, const std::vector<progress::meter::report>& threads,
                   page_image& image) = nullptr;
  void* above = nullptr;
};

/// Gathers what threads, queues and modules above count, shows it to `headway top`, prints it at
/// the end, and writes the timeline. Does nothing, and has no thread, unless the settings ask.
/// Shape:    a thread that copies the counters four times a second: about 20 us each time. Without
///           threads, the engine's ticks do it while something is pending.
/// Threads:  one at a time.
/// Progress: `finish` waits for that thread, and for the other processes that write to the file.
/// Errors:   what cannot be shown or written is said in one line in the log; nothing else suffers.
class observer {
 public:
  observer(const observed& what, settings chosen);
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

}  // namespace headway::watch
