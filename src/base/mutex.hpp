#pragma once

#include <mutex>

#include "base/lock_guard.hpp"
#include "base/thread_annotations.hpp"

namespace headway::base {

/// std::mutex with the attributes for Clang's thread-safety analysis: for code outside the data
/// path.
/// Threads:  any; not recursive.
/// Progress: a waiting thread sleeps in the kernel.
class HEADWAY_CAPABILITY("mutex") mutex {
 public:
  mutex() = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  void lock() HEADWAY_ACQUIRE() { native_.lock(); }
  [[nodiscard]] bool try_lock() HEADWAY_TRY_ACQUIRE(true) { return native_.try_lock(); }
  void unlock() HEADWAY_RELEASE() { native_.unlock(); }
  /// For the analysis: a function further up the stack holds the lock. Checks nothing when it runs.
  void assert_held() const noexcept HEADWAY_ASSERT_CAPABILITY(this) {}

 private:
  std::mutex native_;
};

}  // namespace headway::base
