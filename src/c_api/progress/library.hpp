#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>

#include "base/atomic.hpp"
#include "base/intrusive_list.hpp"
#include "base/mutex.hpp"
#include "c_api/progress/task_host.hpp"
#include "headway/progress.h"
#include "progress/core/engine.hpp"
#include "progress/waiting/thread_record.hpp"
#include "topology/machine.hpp"
#include "watch/observer.hpp"

namespace headway::progress_api {

/// A thread that is in headway_progress_run.
struct loan : base::list_hook<> {
  base::atomic<std::uint32_t> give_back{0};
};

/// The engine of the process, with the number of its users: calls of headway_progress_start minus
/// calls of headway_progress_stop.
/// Threads:  any; the pointers do not change while `host()` is not null.
struct library {
  base::mutex control;  // held in start, stop and lending
  int users HEADWAY_GUARDED_BY(control) = 0;
  std::unique_ptr<topology::machine> machine;  // written under `control`, as the next three
  std::unique_ptr<progress::engine> engine;
  std::unique_ptr<task_host> tasks;
  std::unique_ptr<watch::observer> watching;
  base::intrusive_list<loan> loans HEADWAY_GUARDED_BY(control);
  base::atomic<bool> was_started{false};  // relaxed: only selects an error message
  base::atomic<bool> forked{false};       // likewise
};

[[nodiscard]] library& the_library() noexcept;

/// Null while the library is not started, and in a forked process. Stored with release and loaded
/// with acquire, so that what `start` built is visible.
extern constinit base::atomic<task_host*> the_host;
[[nodiscard]] inline task_host* host() noexcept { return the_host.load(std::memory_order_acquire); }

/// Stores the text for headway_progress_error and returns `status`; prints misuse on standard error
/// too.
[[gnu::cold]] int fail(headway_progress_status status, const char* call,
                       const std::string& why) noexcept;

/// Reports why there is no host: never started, stopped, or forked. Returns MISUSE.
[[gnu::cold]] int not_started(const char* call) noexcept;

/// Whether the calling thread is in the body of an ltask.
[[nodiscard]] inline bool inside_ltask() noexcept { return progress::this_thread().running; }
/// Reports a call from the body of an ltask. Returns MISUSE.
[[gnu::cold]] int is_inside(const char* call) noexcept;
inline int forbid_inside(const char* call) noexcept {
  return inside_ltask() ? is_inside(call) : HEADWAY_PROGRESS_OK;
}

}  // namespace headway::progress_api
