#include "files/helper_threads.hpp"

#include <exception>

#include "progress/os/scheduling.hpp"

namespace headway::files {

helper_threads::~helper_threads() {
  {
    const std::lock_guard held(lock_);
    ends_ = true;
  }
  changed_.notify_all();
  for (auto& each : threads_) each.join();
}

void helper_threads::submit(job& what) {
  if (!queue(what)) return what.run();
  changed_.notify_one();
}

bool helper_threads::queue(job& what) noexcept {
  const std::lock_guard held(lock_);
  if (waiting_count_ >= idle_ && !make_thread()) return false;
  waiting_.push_back(what);
  ++waiting_count_;
  return true;
}

bool helper_threads::make_thread() noexcept {
  if (threads_.size() == threads_max) return true;
  try {
    threads_.push_back(progress::start_thread({.name = "hw-file", .processors = processors_},
                                              [this] { serve(); }));
  } catch (const std::exception&) {
    return !threads_.empty();
  }
  return true;
}

void helper_threads::serve() {
  std::unique_lock held(lock_);
  while (true) {
    ++idle_;
    changed_.wait(held, [this] { return waiting_count_ > 0 || ends_; });
    --idle_;
    job* const next = waiting_.pop_front();
    if (next == nullptr) return;
    --waiting_count_;
    held.unlock();
    next->run();
    held.lock();
  }
}

}  // namespace headway::files
