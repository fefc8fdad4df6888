#include "progress/os/boost_cache.hpp"

#include <utility>

#include "base/futex.hpp"

namespace headway::progress {

bool boost_cache::keep(sched_boost& boost, pid_t thread, std::uint64_t now_ns) noexcept {
  const base::lock_guard hold(lock_);
  const bool news = has_owner_ && !boost_ && boost.raise(thread, true);
  if (news) {
    boost_ = &boost;
    thread_ = thread;
  }
  if (boost_ == &boost && thread_ == thread) due_ns_ = now_ns + lasts_ns;
  return news;
}

std::uint64_t boost_cache::give_back_due(std::uint64_t now_ns) noexcept {
  const base::lock_guard hold(lock_);
  if (boost_ && now_ns >= due_ns_) give_back();
  return boost_ ? due_ns_ : base::no_deadline;
}

void boost_cache::owner_started() noexcept {
  const base::lock_guard hold(lock_);
  has_owner_ = true;
}

void boost_cache::owner_stopped() noexcept {
  const base::lock_guard hold(lock_);
  has_owner_ = false;
  if (boost_) give_back();
}

void boost_cache::give_back() noexcept { std::exchange(boost_, nullptr)->lower(thread_); }

}  // namespace headway::progress
