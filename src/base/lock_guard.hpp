#pragma once

#include <mutex>

#include "base/thread_annotations.hpp"

namespace headway::base {

/// std::lock_guard with the attributes for Clang's thread-safety analysis.
/// Use:      `lock_guard held(lock)`; after a successful `lock.try_lock()`,
///           `lock_guard held(lock, std::adopt_lock)`.
template <class Lock>
class HEADWAY_SCOPED_CAPABILITY lock_guard {
 public:
  [[nodiscard, gnu::always_inline]] explicit lock_guard(Lock& lock) HEADWAY_ACQUIRE(lock)
      : lock_(lock) {
    lock_.lock();
  }
  [[nodiscard]] lock_guard(Lock& lock, std::adopt_lock_t) noexcept HEADWAY_REQUIRES(lock)
      : lock_(lock) {}
  ~lock_guard() HEADWAY_RELEASE() { lock_.unlock(); }
  lock_guard(const lock_guard&) = delete;
  lock_guard& operator=(const lock_guard&) = delete;

 private:
  Lock& lock_;
};

}  // namespace headway::base
