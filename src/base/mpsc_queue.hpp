#pragma once

#include "base/atomic.hpp"

namespace headway::base {

/// The link that a member of an `mpsc_queue` brings; a member is in one queue at a time.
template <class T>
struct mpsc_link {
  T* next = nullptr;  ///< written by whoever owns the member: first the pusher, then the popper
};

/// Hands objects from any thread to one thread, in the order of their pushes.
/// Shape:    intrusive: `link(member)` is a `mpsc_link<T>&`; no memory of its own.
/// Threads:  `push`, `empty` any thread; `pop` one thread at a time, whose hand-over synchronises
///           (a mask, say).
/// Progress: never waits. `push` repeats only while others push. Unlike queues that link behind
///           a swapped tail, a pusher that loses the processor hides nobody else's member.
/// Errors:   none; empty is an ordinary answer. Pushing a queued member is the caller's bug.
/// Source:   R. K. Treiber's stack (IBM RJ 5118, 1986), taken whole and turned round. Taking all
///           at once leaves no ABA: `push` needs only that the head is what it linked to.
template <class T, auto link, template <class> class Atomic = atomic>
class mpsc_queue {
  // A member belongs to its pusher until (P), then to the list behind `newest_`, after (T) to the
  // popper, which keeps it in `oldest_` in order. Hazards and the edges that remove them:
  //   half-written member seen   (P) release -> (T) acquire; a later (P) is a read-modify-write,
  //                              so it continues the release sequence of the earlier ones
  //   member taken twice         (T) one exchange takes the whole list
  //   found empty, what the      (T) release -> (B) acquire: for progress/unrun.hpp
  //     popper did before unseen
  // Checked by: tests/model/mpsc_queue_model.cpp, tests/stress/base_stress.cpp under TSan.
 public:
  mpsc_queue() = default;
  mpsc_queue(const mpsc_queue&) = delete;
  mpsc_queue& operator=(const mpsc_queue&) = delete;

  /// True if the queue was empty before, as far as the pushers know.
  /// seq_cst: pairs with `empty` in threads that first say that they go to sleep, then look (the
  /// store-load pair of progress/guard.hpp).
  bool push(T& member) noexcept {
    T* before = newest_.load(std::memory_order_relaxed);  // a guess, carries nothing
    do {
      link(member).next = before;
    } while (!newest_.compare_exchange_weak(before, &member, std::memory_order_seq_cst,  // (P)
                                            std::memory_order_relaxed));
    return before == nullptr;
  }

  /// Nothing was pushed since the last `pop` that answered nullptr.
  [[nodiscard]] bool empty() const noexcept {
    return newest_.load(std::memory_order_seq_cst) == nullptr;  // (B)
  }
  /// The opposite as a hint, for the popper: carries nothing.
  [[nodiscard]] bool fresh() const noexcept {
    return newest_.load(std::memory_order_relaxed) != nullptr;
  }

  /// The oldest member, or nullptr.
  [[nodiscard]] T* pop() noexcept {
    if (!oldest_) take();
    return next();
  }
  /// The same in two steps: all that was pushed until now, and one after the other. The first only
  /// when the second has answered nullptr.
  void take() noexcept {
    if (!newest_.load(std::memory_order_relaxed)) return;              // a hint, saves the exchange
    T* newest = newest_.exchange(nullptr, std::memory_order_acq_rel);  // (T)
    while (newest) {
      T* older = link(*newest).next;
      link(*newest).next = oldest_;
      oldest_ = newest;
      newest = older;
    }
  }
  [[nodiscard]] T* next() noexcept {
    T* member = oldest_;
    if (member) oldest_ = link(*member).next;
    return member;
  }

 private:
  Atomic<T*> newest_{nullptr};
  T* oldest_ = nullptr;  // of the popping thread
};

}  // namespace headway::base
