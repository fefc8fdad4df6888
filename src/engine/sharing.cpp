#include "engine/sharing.hpp"

#include <memory>
#include <mutex>

#include "base/assert.hpp"

namespace headway::engine {
namespace {

std::mutex lifetime;  // cold: start and end only. Guards the rest
std::unique_ptr<runtime> the_runtime;
int holders = 0;
bool over = false;

}  // namespace

base::result<runtime*> hold() {
  const std::scoped_lock held(lifetime);
  if (over)
    return base::failed(base::fault_kind::unsupported,
                        "this process has left its job, and cannot join it again");
  if (!the_runtime) {
    auto started = runtime::start();
    if (!started) return std::unexpected(started.error());
    the_runtime = std::move(*started);
  }
  ++holders;
  return the_runtime.get();
}

base::result<> let_go() {
  const std::scoped_lock held(lifetime);
  HEADWAY_ASSERT(holders > 0);
  if (--holders > 0) return {};
  over = true;
  auto stopped = the_runtime->stop();
  the_runtime.reset();
  return stopped;
}

}  // namespace headway::engine
