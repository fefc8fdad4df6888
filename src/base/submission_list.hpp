#pragma once

#include <atomic>

namespace headway::base {

/// Hands members from any thread to whoever takes them all, in the order of submission.
/// Shape:    one word; members bring a `Next` of their own: `Atomic<T*> T::*`.
/// Threads:  `push` and `empty` any thread; `take_all` any thread, one at a time or not.
/// Progress: lock-free. Nobody can be stopped between two steps of a push so as to hide others.
/// Errors:   none. A member must not be pushed again before it was taken.
/// Source:   Treiber's stack (IBM RJ 5118, 1986); taken whole, so that there is no ABA.
template <class T, template <class> class Atomic, Atomic<T*> T::* Next>
class submission_list {
  // Ownership: a member is its pusher's until (P), then nobody's until (T), then the taker's.
  // Hazards, and the edge that removes each:
  //   the taker sees a half-written member   (P) release -> (T) acquire
  //   a pusher finds the mask taken, the holder leaves without the member: the holder's unlock and
  //   `empty`, and the pusher's (P) and try-lock, are all seq_cst: one of the two sees the other.
  // Checked by: tests/model/submission_list_model.cpp, tests/stress/packets_stress.cpp.
 public:
  void push(T& member) noexcept {
    T* head = head_.load(std::memory_order_relaxed);  // a guess; the exchange checks it
    do {
      (member.*Next).store(head, std::memory_order_relaxed);  // published by (P)
    } while (!head_.compare_exchange_weak(head, &member, std::memory_order_seq_cst,  // (P)
                                          std::memory_order_relaxed));
  }

  [[nodiscard]] bool empty() const noexcept {
    return head_.load(std::memory_order_seq_cst) == nullptr;
  }

  /// The oldest first, linked by `Next`; nullptr ends it.
  [[nodiscard]] T* take_all() noexcept {
    T* newest = head_.exchange(nullptr, std::memory_order_seq_cst);  // (T)
    T* oldest = nullptr;
    while (newest) {
      T* older = (newest->*Next).load(std::memory_order_relaxed);  // ours since (T)
      (newest->*Next).store(oldest, std::memory_order_relaxed);
      oldest = newest;
      newest = older;
    }
    return oldest;
  }

 private:
  Atomic<T*> head_{nullptr};
};

}  // namespace headway::base
