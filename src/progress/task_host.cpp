#include "progress/task_host.hpp"

#include <exception>

#include "base/futex.hpp"
#include "progress/scheduling.hpp"
#include "progress/task.hpp"

namespace headway::progress {

task_host::~task_host() {
  if (!thread_.joinable()) return;
  slot_.store(ended, std::memory_order_release);  // pairs with `serve`
  bell_.fetch_add(1, std::memory_order_release);
  base::futex_wake(bell_, 1);
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
  slot_.store(free, std::memory_order_release);
  return true;
#endif
}

bool task_host::reserve() noexcept {
  auto expected = free;
  return slot_.load(std::memory_order_relaxed) == free &&                              // a hint
         slot_.compare_exchange_strong(expected, reserved, std::memory_order_acquire,  // (V)
                                       std::memory_order_relaxed);
}

void task_host::unreserve() noexcept { slot_.store(free, std::memory_order_release); }

void task_host::send(task& t) noexcept {
  slot_.store(reinterpret_cast<std::uintptr_t>(&t), std::memory_order_release);  // (S)
  bell_.fetch_add(1, std::memory_order_release);                                 // (B)
  base::futex_wake(bell_, 1);
}

void task_host::serve() noexcept {
  for (;;) {
    const auto rings = bell_.load(std::memory_order_acquire);  // (B)
    const auto what = slot_.load(std::memory_order_acquire);   // (S)
    if (what == ended) return;
    if (what <= no_thread) {
      base::futex_wait(bell_, rings);
      continue;
    }
    auto& t = *reinterpret_cast<task*>(what);
    const auto said = t.block();
    slot_.store(free, std::memory_order_release);  // (V'): before, because `t` may end now
    t.came_back(said);
  }
}

}  // namespace headway::progress
