#include "progress/task_host.hpp"

#include <exception>

#include "base/futex.hpp"
#include "progress/scheduling.hpp"
#include "progress/task.hpp"

namespace headway::progress {

task_host::~task_host() {
  if (!thread_.joinable()) return;
  room_.close();
  base::futex_wake(room_.bell(), 1);
  thread_.join();
}

bool task_host::start_thread_once() noexcept {
#ifdef HEADWAY_NOTHREAD
  return true;  // nobody calls blocking forms
#else
  const std::lock_guard hold(control_);
  if (thread_.joinable()) return true;
  try {
    thread_ = start_thread({"hw-block", {}}, [this] { serve(); });
  } catch (const std::exception&) {
    return false;
  }
  room_.open();
  return true;
#endif
}

void task_host::send(task& t) noexcept {
  room_.send(t);
  base::futex_wake(room_.bell(), 1);
}

void task_host::serve() noexcept {
  for (;;) {
    const auto next = room_.take();
    if (next.over) return;
    if (!next.object) {
      base::futex_wait(room_.bell(), next.rings);
      continue;
    }
    const auto said = next.object->block();
    room_.served();  // before, because the task may end now, and be sent again
    next.object->came_back(said);
  }
}

}  // namespace headway::progress
