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

/// A thread that headway_progress_run lent.
struct loan : base::list_hook<> {
  base::atomic<std::uint32_t> give_back{0};
};

/// The one engine of the process, and how many use it.
/// Threads:  any; what is built while `host()` is not null is constant as long.
struct library {
  base::mutex control;  // cold: start, stop, lending
  int users HEADWAY_GUARDED_BY(control) = 0;
  std::unique_ptr<topology::machine> machine;  // written under `control`, as the next three
  std::unique_ptr<progress::engine> engine;
  std::unique_ptr<task_host> tasks;
  std::unique_ptr<watch::observer> watching;
  base::intrusive_list<loan> loans HEADWAY_GUARDED_BY(control);
  base::atomic<bool> was_started{false};  // relaxed: only says which message is true
  base::atomic<bool> forked{false};       // likewise
};

[[nodiscard]] library& the_library() noexcept;

/// Null while the library is not started, and for ever in a child process. Release and acquire:
/// what `start` built is seen.
extern constinit base::atomic<task_host*> the_host;
[[nodiscard]] inline task_host* host() noexcept { return the_host.load(std::memory_order_acquire); }

/// Keeps the text for headway_progress_error; prints misuse on standard error too.
[[gnu::cold]] int fail(headway_progress_status status, const char* call,
                       const std::string& why) noexcept;

/// Why there is no host: never started, stopped, or forked. MISUSE.
[[gnu::cold]] int not_started(const char* call) noexcept;

/// The calling thread is in the body of an ltask.
[[nodiscard]] inline bool inside_ltask() noexcept { return progress::this_thread().running; }
/// It is: MISUSE, with both names.
[[gnu::cold]] int is_inside(const char* call) noexcept;
inline int forbid_inside(const char* call) noexcept {
  return inside_ltask() ? is_inside(call) : HEADWAY_PROGRESS_OK;
}

}  // namespace headway::progress_api
