#pragma once

#include <memory>

#include "collectives/schedule_run.hpp"

namespace headway::collectives {

/// Schedules that are not in use, kept for the next operation with their memory.
/// Shape:    at most `kept_max` per thread.
/// Threads:  each thread has its own; a schedule may be returned by another thread than took it.
/// Errors:   `take` throws std::bad_alloc.
class schedule_cache {
 public:
  [[nodiscard]] static schedule_run* take();
  static void give(schedule_run* ended) noexcept;

 private:
  static constexpr int kept_max = 8;
  struct spare_list;
  static spare_list& of_thread() noexcept;
};

struct give_back {
  void operator()(schedule_run* s) const noexcept { schedule_cache::give(s); }
};

/// A schedule that goes back to the cache when it is destroyed: it must be complete, or never have
/// been started.
using schedule_ptr = std::unique_ptr<schedule_run, give_back>;

[[nodiscard]] inline schedule_ptr new_schedule() { return schedule_ptr(schedule_cache::take()); }

}  // namespace headway::collectives
