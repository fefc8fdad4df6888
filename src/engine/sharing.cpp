#include "engine/sharing.hpp"

#include <pthread.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "base/assert.hpp"

namespace headway::engine {
namespace {

std::mutex lifetime;  // cold: start and end only. Guards the rest
std::unique_ptr<runtime> the_runtime;
int holders = 0;
bool over = false;
// Of a child: its parent's, which it leaves as it is. Reachable, or leak checkers would complain.
runtime* left_to_parent = nullptr;
std::atomic<bool> forked{false};  // relaxed: set before a child has more than one thread

/// The end of a child must not be taken for its parent's: the runtime's destructor says good-bye.
void in_child() noexcept {
  if (!the_runtime) return;
  left_to_parent = the_runtime.release();
  forked.store(true, std::memory_order_relaxed);
}

}  // namespace

bool in_forked_child() noexcept { return forked.load(std::memory_order_relaxed); }

base::result<runtime*> hold() {
  // Before the lock, which another thread may have held when the process was forked.
  if (in_forked_child()) return base::failed(base::fault_kind::unsupported, forked_child_text);
  const std::scoped_lock held(lifetime);
  if (over)
    return base::failed(base::fault_kind::unsupported,
                        "this process has left its job, and cannot join it again");
  if (!the_runtime) {
    static const int registered = pthread_atfork(nullptr, nullptr, &in_child);
    static_cast<void>(registered);
    auto started = runtime::start();
    if (!started) return std::unexpected(started.error());
    the_runtime = std::move(*started);
  }
  ++holders;
  return the_runtime.get();
}

base::result<> let_go() {
  if (in_forked_child()) return {};
  const std::scoped_lock held(lifetime);
  HEADWAY_ASSERT(holders > 0);
  if (--holders > 0) return {};
  over = true;
  auto stopped = the_runtime->stop();
  the_runtime.reset();
  return stopped;
}

}  // namespace headway::engine
