#include "progress/waiting/sleep_signs.hpp"

#include <algorithm>

#include "base/lock_guard.hpp"

namespace headway::progress {

sleep_signs& sleep_signs::of_process() noexcept {
  static sleep_signs all;
  return all;
}

void sleep_signs::add(word& sign) {
  {
    const base::lock_guard held(lock_);
    words_.push_back(&sign);
    count_.store(static_cast<std::uint32_t>(words_.size()), std::memory_order_relaxed);
  }
  show();
}

void sleep_signs::remove(word& sign) {
  const base::lock_guard held(lock_);
  std::erase(words_, &sign);
  count_.store(static_cast<std::uint32_t>(words_.size()), std::memory_order_relaxed);
}

void sleep_signs::show() noexcept {
  const base::lock_guard held(lock_);
  const auto now = sleeping_.load(std::memory_order_relaxed) != 0 ? 1u : 0u;
  for (word* each : words_) each->store(now, std::memory_order_relaxed);
}

}  // namespace headway::progress
