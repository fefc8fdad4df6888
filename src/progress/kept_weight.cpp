#include "progress/kept_weight.hpp"

#include <mutex>
#include <utility>

#include "base/futex.hpp"

namespace headway::progress {

bool kept_weight::keep(standing& whose, pid_t thread, std::uint64_t now_ns) noexcept {
  const std::lock_guard hold(lock_);
  const bool news = has_keeper_ && !whose_ && whose.raise(thread, true);
  if (news) {
    whose_ = &whose;
    thread_ = thread;
  }
  if (whose_ == &whose && thread_ == thread) due_ns_ = now_ns + lasts_ns;
  return news;
}

std::uint64_t kept_weight::look(std::uint64_t now_ns) noexcept {
  const std::lock_guard hold(lock_);
  if (whose_ && now_ns >= due_ns_) give_back();
  return whose_ ? due_ns_ : base::no_deadline;
}

void kept_weight::keeper_comes() noexcept {
  const std::lock_guard hold(lock_);
  has_keeper_ = true;
}

void kept_weight::keeper_goes() noexcept {
  const std::lock_guard hold(lock_);
  has_keeper_ = false;
  if (whose_) give_back();
}

void kept_weight::give_back() noexcept { std::exchange(whose_, nullptr)->lower(thread_); }

}  // namespace headway::progress
