#pragma once

#include <atomic>

#if defined(__SANITIZE_THREAD__)
#define HEADWAY_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEADWAY_UNDER_TSAN 1
#endif
#endif

namespace headway::base {

/// Orders the stores before it against the loads after it. No other file uses a standalone fence.
/// Use:      two threads that each store one word, call this, then load the other's: at least one
///           sees the other's store (Dekker). Name both sides where it is used.
/// Threads:  any. Under ThreadSanitizer, which does not see fences, it is an exchange on one word
///           of the process, through which every pair of callers synchronises.
/// Progress: never waits; about 20 cycles.
inline void store_load_fence() noexcept {
#ifdef HEADWAY_UNDER_TSAN
  static std::atomic<int> common_word{0};
  common_word.exchange(0, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace headway::base
