#include "endpoints/wire/buffer_queue.hpp"

#include "base/lock_guard.hpp"

namespace headway::endpoints {

// Threads that send at the same time may each exceed the window by a message. That they are as many
// as the window has units is not expected.
buffer_queue::buffer_queue(pool& buffers, delivery& here, progress::engine& engine,
                           std::uint32_t window_units) noexcept
    : ltask("give out buffers", &buffer_queue::run),
      buffers_(buffers),
      here_(here),
      engine_(engine),
      each_max_(2 * window_units) {}

bool buffer_queue::waits_at(std::uint32_t to) noexcept {
  const base::lock_guard guard(lock_);
  return lines_.contains(to);
}

bool buffer_queue::add(buffer_request& one) {
  bool first = false, stopped = false;
  {
    const base::lock_guard guard(lock_);
    stopped = stopped_;
    if (!stopped) {
      line& where = lines_[one.to];
      auto& count = where.count[one.from];
      if (count == each_max_) return false;
      ++count;
      where.waiting.push_back(&one);
      first = !any_.exchange(true, std::memory_order_relaxed);  // under the lock
    }
  }
  if (stopped) one.granted(one, nullptr);
  if (first) {
    engine_.blind_started();
    engine_.submit(*this);
  }
  return true;
}

buffer_request* buffer_queue::first_from(std::uint32_t to) noexcept {
  const base::lock_guard guard(lock_);
  const auto found = lines_.lower_bound(to);
  return found == lines_.end() ? nullptr : found->second.waiting.front();
}

void buffer_queue::pop(std::uint32_t to, std::uint32_t from) noexcept {
  const base::lock_guard guard(lock_);
  const auto found = lines_.find(to);
  found->second.waiting.pop_front();
  if (--found->second.count[from] == 0) found->second.count.erase(from);
  if (found->second.waiting.empty()) lines_.erase(found);
}

bool buffer_queue::grant(buffer_request& one) noexcept {
  block* got = nullptr;
  if (here_.is_open(one.to)) {
    got = buffers_.request_for_arrival(one.bytes);
    if (!got) return false;
  }
  one.granted(one, got);
  return true;
}

/// A request stays in its line until it is granted: what arrives meanwhile is queued behind it.
bool buffer_queue::grant_some() noexcept {
  bool some = false;
  std::uint32_t to = 1;  // 0 is no end-point
  while (to != 0) {
    buffer_request* one = first_from(to);
    if (!one) break;
    to = one->to;
    const auto from = one->from;
    if (grant(*one)) {
      pop(to, from);
      some = true;
    } else {
      ++to;
    }
  }
  return some;
}

bool buffer_queue::end_if_empty() noexcept {
  auto& engine = engine_;  // `stop` may return, and this object end, once nothing is there
  {
    const base::lock_guard guard(lock_);
    if (!lines_.empty()) return false;
    any_.store(false, std::memory_order_release);  // (S)
  }
  engine.blind_ended();
  return true;
}

progress::ltask_result buffer_queue::run(progress::ltask& self) noexcept {
  auto& me = static_cast<buffer_queue&>(self);
  const bool some = me.grant_some();
  if (me.end_if_empty()) return progress::ltask_result::done;
  return some ? progress::ltask_result::advanced : progress::ltask_result::idle;
}

void buffer_queue::stop() noexcept {
  {
    const base::lock_guard guard(lock_);
    stopped_ = true;
  }
  while (any_.load(std::memory_order_acquire)) engine_.poll();  // (S)
}

}  // namespace headway::endpoints
