#pragma once

#include <atomic>
#include <cstdint>

namespace headway::progress {

/// Says once that something has happened, and wakes the one thread that sleeps for it.
/// Shape:    one word: pending, done, or the address of the waiter to wake.
/// Threads:  `test` any thread; `complete` once, any thread; at most one waiting thread.
/// Progress: `test` and `complete` never wait. Inside a polling round `complete` puts the wake-up
///           off to the end of the round, when no mask is held.
/// Errors:   none. Once `complete` has made the word `done`, the owner may free the object.
/// Source:   pioman15 (mechanism 7).
class completion {
 public:
  completion() = default;
  completion(const completion&) = delete;
  completion& operator=(const completion&) = delete;

  [[nodiscard]] bool test() const noexcept {
    return word_.load(std::memory_order_acquire) == done;  // pairs with the exchange in `complete`
  }
  void complete() noexcept;
  /// Done at the start: only while nobody else knows this object yet.
  void begin_done() noexcept { word_.store(done, std::memory_order_relaxed); }
  /// Ready to be used again. Only while nobody waits and nobody may complete.
  void reset() noexcept { word_.store(pending, std::memory_order_relaxed); }

 private:
  friend class engine;
  static constexpr std::uintptr_t pending = 0, done = 1;
  std::atomic<std::uintptr_t> word_{pending};
};

}  // namespace headway::progress
