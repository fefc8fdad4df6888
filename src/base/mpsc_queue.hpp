#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::base {

/// The link in each member of an `mpsc_queue`; a member is in one queue at a time.
struct mpsc_link {
  std::uintptr_t next = 0;  ///< written by the pusher until (P), then by the popper
};

/// Hands objects from any thread to one thread, in the order of their pushes.
/// Shape:    intrusive: `link(member)` is a `mpsc_link&`; no memory of its own. A member's address
///           is even.
/// Threads:  `push`, `empty` any thread; the rest one thread at a time, and the hand-over between
///           two such threads synchronises (by a mask, for instance).
/// Progress: never waits. `push` repeats only while other threads push. A pusher that loses the
///           processor hides no other pusher's member, as it does in queues with a swapped tail.
/// Errors:   none; empty is an ordinary answer. Pushing a queued member is the caller's bug.
/// Source:   R. K. Treiber's stack (IBM RJ 5118, 1986), taken whole and reversed. Here the popper
///           records how far it has taken instead of exchanging the head, so that it writes no word
///           that pushers write.
template <class T, auto link, template <class> class Atomic = atomic>
class mpsc_queue {
  // Each push has a name: its member's address and one bit. The member's link holds the name of
  // the push before it. `newest_` is the name of the last push, `taken_` that of the last push
  // that was taken: members are queued while the two differ. Only names are compared.
  // A member belongs to its pusher until (P), then to the list from `newest_` to `taken_`, after
  // (T) to the popper, which keeps it in `oldest_` in order. Hazards and what removes them:
  //   half-written member seen   (P) release -> (T) acquire; `newest_` is changed by (P) alone, a
  //                              read-modify-write, which continues the earlier ones' sequences
  //   found empty, but what the  (T') release -> (B') acquire; progress/core/taken_count.hpp needs
  //     popper did is not seen   it
  //   a member is never found,   The bit makes a push's name differ from the `taken_` that its
  //     because its name equals  pusher reads (N). The pusher owns the member, so it reads the
  //     `taken_`                 value that the member's last taking stored, or a later one; a
  //                              later one is this member's name only once this push is taken.
  //                              `empty` reads `newest_` (B) before `taken_`, so no older value.
  // Checked by: tests/model/mpsc_queue_model.cpp, tests/progress/task_stress.cpp under TSan.
 public:
  mpsc_queue() = default;
  mpsc_queue(const mpsc_queue&) = delete;
  mpsc_queue& operator=(const mpsc_queue&) = delete;

  /// seq_cst: pairs with `empty` in a thread that first publishes that it goes to sleep and then
  /// reads `newest_` (the store-load pair of progress/background/kernel_sleeper.hpp).
  void push(T& member) noexcept {
    const auto address = reinterpret_cast<name>(&member);
    const auto mine = address | (taken_.load(std::memory_order_relaxed) == address ? 1 : 0);  // (N)
    auto before = newest_.load(std::memory_order_relaxed);  // may be stale; (P) checks it
    do {
      link(member).next = before;
    } while (!newest_.compare_exchange_weak(before, mine, std::memory_order_seq_cst,  // (P)
                                            std::memory_order_relaxed));
  }

  /// Whether nothing was pushed since the last `take`. Members that were taken and not yet returned
  /// by `next` do not count.
  [[nodiscard]] bool empty() const noexcept {
    const auto newest = newest_.load(std::memory_order_seq_cst);  // (B)
    return newest == taken_.load(std::memory_order_acquire);      // (B')
  }
  /// Whether there was a push since the last `take`; a hint for the popper, relaxed.
  [[nodiscard]] bool fresh() const noexcept {
    return newest_.load(std::memory_order_relaxed) != taken_.load(std::memory_order_relaxed);
  }

  /// Removes the oldest member; nullptr when there is none.
  [[nodiscard]] T* pop() noexcept {
    if (!oldest_) take();
    return next();
  }
  /// `pop` in two steps: `take` moves all that was pushed until now to the popper, `next` returns
  /// it one by one. Call `take` only when `next` has returned nullptr.
  void take() noexcept {
    const auto newest = newest_.load(std::memory_order_acquire);  // (T)
    const auto until = taken_.load(std::memory_order_relaxed);    // the popper's own
    if (newest == until) return;
    taken_.store(newest, std::memory_order_release);  // (T')
    for (auto at = newest; at != until;) {
      T& member = *reinterpret_cast<T*>(at & ~name{1});
      at = link(member).next;
      link(member).next = reinterpret_cast<name>(oldest_);
      oldest_ = &member;
    }
  }
  [[nodiscard]] T* next() noexcept {
    T* member = oldest_;
    if (member) oldest_ = reinterpret_cast<T*>(link(*member).next);
    return member;
  }

 private:
  using name = std::uintptr_t;
  Atomic<name> newest_{0};
  Atomic<name> taken_{0};  // written by the popping thread
  T* oldest_ = nullptr;    // of the popping thread
};

}  // namespace headway::base
