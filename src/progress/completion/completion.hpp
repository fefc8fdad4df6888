#pragma once

#include <cstdint>

#include "progress/completion/completion_word.hpp"

namespace headway::progress {

struct waiter;

/// Signals, once, that something has happened, and wakes the one thread that sleeps for it.
/// Shape:    one word: pending, done, or the address of the waiter to wake.
/// Threads:  `test` any thread; `complete` once, any thread; at most one waiting thread.
/// Progress: `test` and `complete` never wait. Inside a polling round `complete` defers the wake-up
///           to the end of the round, when no mask is held.
/// Errors:   none. Once `complete` has made the word `done`, the owner may free the object; the
///           engine that its waiter waits with must live until `complete` has returned.
/// Source:   pioman15 (mechanism 7).
class completion {
 public:
  completion() = default;
  completion(const completion&) = delete;
  completion& operator=(const completion&) = delete;

  [[nodiscard]] bool test() const noexcept { return word_.done(); }
  /// The same for a caller that has joined the overflow waiters.
  [[nodiscard]] bool test_in_overflow() const noexcept { return word_.done_meanwhile(); }
  /// Any number of threads may wait for it.
  [[nodiscard]] bool shared() const noexcept { return word_.shared(); }
  [[gnu::hot]] void complete() noexcept;
  /// Makes it done before any other thread can access this object.
  void begin_done() noexcept { word_.begin_done(); }
  /// Makes it pending again. Only while no thread waits and none may complete it.
  void reset() noexcept { word_.reset(); }

 private:
  friend class wait_set;
  friend class shared_completion;
  void tell_all() noexcept;
  basic_completion_word<waiter> word_;
};

/// The same for any number of waiting threads. The first one is in the word, without further cost;
/// the others are overflow waiters.
/// Errors:   the owner may free it when every wait for it has returned.
class shared_completion : public completion {
 public:
  shared_completion() noexcept { reset(); }
  void reset() noexcept { word_.reset_shared(); }
  /// Always signals the waiters: even if the calling thread spins for it, others may wait.
  void complete() noexcept { tell_all(); }
};

}  // namespace headway::progress
