#include "c_api/shared_runtime/shared_runtime.hpp"

#include <pthread.h>

#include <atomic>
#include <memory>
#include <optional>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "base/misspelt_settings.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"

namespace headway::shared_runtime {
namespace {

base::mutex lifetime;  // cold: start and end only
std::unique_ptr<runtime::instance> the_instance HEADWAY_GUARDED_BY(lifetime);
int holders HEADWAY_GUARDED_BY(lifetime) = 0;
bool over HEADWAY_GUARDED_BY(lifetime) = false;
// In a child: its parent's, which is left as it is. Reachable, so that leak checkers do not report
// it.
runtime::instance* left_to_parent = nullptr;
std::atomic<bool> forked{false};  // relaxed: set before a child has more than one thread

/// A child must not run the runtime's destructor, which would say goodbye in its parent's name. A
/// child has one thread, and must not wait for a lock that another thread held.
void in_child() noexcept HEADWAY_NO_THREAD_SAFETY_ANALYSIS {
  if (!the_instance) return;
  left_to_parent = the_instance.release();
  forked.store(true, std::memory_order_relaxed);
}

base::mutex reading;  // taken when the tunables are read, and when one is set
std::optional<const runtime::settings> read_settings HEADWAY_GUARDED_BY(reading);

}  // namespace

const runtime::settings& own_settings() {
  const base::lock_guard held(reading);
  if (!read_settings) read_settings.emplace(runtime::settings::from_environment());
  return *read_settings;
}

bool change_setting(const std::function<void()>& change) {
  const base::lock_guard held(reading);
  if (read_settings) return false;
  change();
  return true;
}

bool in_forked_child() noexcept { return forked.load(std::memory_order_relaxed); }

base::result<runtime::instance*> hold() {
  // Before the lock, which another thread may have held at the fork.
  if (in_forked_child()) return base::failed(base::fault_kind::unsupported, forked_child_text);
  const base::lock_guard held(lifetime);
  if (over)
    return base::failed(base::fault_kind::unsupported,
                        "this process has left its job, and cannot join it again");
  HEADWAY_ASSERT((holders > 0) == (the_instance != nullptr));
  if (!the_instance) {
    static const int registered = pthread_atfork(nullptr, nullptr, &in_child);
    static_cast<void>(registered);
    const auto& how = own_settings();
    base::log_as(how.log);
    base::report_misspelt_settings();
    auto started = runtime::instance::start(how);
    if (!started) return std::unexpected(started.error());
    the_instance = std::move(*started);
  }
  ++holders;
  return the_instance.get();
}

base::result<> let_go() {
  if (in_forked_child()) return {};
  const base::lock_guard held(lifetime);
  HEADWAY_ASSERT(holders > 0);
  if (--holders > 0) return {};
  over = true;
  auto stopped = the_instance->stop();
  the_instance.reset();
  return stopped;
}

}  // namespace headway::shared_runtime
