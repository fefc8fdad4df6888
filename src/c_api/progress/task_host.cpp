#include "c_api/progress/task_host.hpp"

#include <exception>

#include "base/futex.hpp"
#include "c_api/progress/task.hpp"
#include "progress/os/scheduling.hpp"

namespace headway::progress_api {

// Not analysed: no other thread uses it any more.
task_host::~task_host() HEADWAY_NO_THREAD_SAFETY_ANALYSIS {
  if (!thread_.joinable()) return;
  hand_over_.close();
  base::futex_wake(hand_over_.bell(), 1);
  thread_.join();
}

bool task_host::start_thread_once() noexcept {
#ifdef HEADWAY_NOTHREAD
  return true;  // blocking forms are never called
#else
  const base::lock_guard hold(control_);
  if (thread_.joinable()) return true;
  try {
    thread_ = progress::start_thread({"hw-block", {}}, [this] { serve(); });
  } catch (const std::exception&) {
    return false;
  }
  hand_over_.open();
  return true;
#endif
}

void task_host::send(task& t) noexcept {
  hand_over_.send(t);
  base::futex_wake(hand_over_.bell(), 1);
}

void task_host::serve() noexcept {
  for (;;) {
    const auto next = hand_over_.take();
    if (next.over) return;
    if (!next.object) {
      base::futex_wait(hand_over_.bell(), next.rings);
      continue;
    }
    const auto answer = next.object->block();
    hand_over_.served();  // before `end_block`, which may end the task, and it be sent again
    next.object->end_block(answer);
  }
}

}  // namespace headway::progress_api
