#include "progress/os/sched_boost.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "progress/os/scheduling_attributes.hpp"

namespace headway::progress {
namespace {

std::atomic<bool> weight_refused{false};  // by the kernel, for good; a hint

}  // namespace

bool sched_boost::may_raise_weight() noexcept {
  return !weight_refused.load(std::memory_order_relaxed);
}

bool sched_boost::raise(pid_t thread, bool weight) noexcept {
  weight = weight && may_raise_weight();
  const base::lock_guard hold(lock_);
  // the record belonged to another thread before
  if (thread != std::exchange(thread_, thread)) raised_ = 0;
  if (raised_ != 0) {
    if (weight && !weight_) weight_ = apply(thread, true);
    ++raised_;
    return true;
  }
  scheduling_attributes now;
  if (!get_attributes(thread, now) || now.policy != SCHED_OTHER) return false;
  nice_ = now.nice;
  flags_ = now.flags;
  slice_ns_ = now.runtime;
  weight_ = weight && apply(thread, true);
  if (!weight_ && !apply(thread, false)) return false;
  raised_ = 1;
  return true;
}

bool sched_boost::apply(pid_t thread, bool weight) const noexcept {
  scheduling_attributes wish;
  wish.nice = weight ? greatest_weight : nice_;
  wish.flags = weight ? flags_ | not_inherited : flags_;
  wish.runtime = slice_ns_ == 0 ? short_slice_ns : std::min(slice_ns_, short_slice_ns);
  if (set_attributes(thread, wish)) return true;
  if (weight && errno == EPERM) weight_refused.store(true, std::memory_order_relaxed);
  return false;
}

void sched_boost::lower(pid_t thread) noexcept {
  const base::lock_guard hold(lock_);
  if (thread != thread_ || raised_ == 0 || --raised_ != 0) return;
  scheduling_attributes wish;
  wish.nice = nice_;
  wish.flags = flags_;
  wish.runtime = slice_ns_;
  if (set_attributes(thread, wish) || errno != EPERM) return;
  wish.flags = flags_ | not_inherited;
  set_attributes(thread, wish);
}

}  // namespace headway::progress
