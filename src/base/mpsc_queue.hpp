#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::base {

/// The link that a member of an `mpsc_queue` brings; a member is in one queue at a time.
struct mpsc_link {
  std::uintptr_t next = 0;  ///< written by the member's owner: first the pusher, then the popper
};

/// Hands objects from any thread to one thread, in the order of their pushes.
/// Shape:    intrusive: `link(member)` is a `mpsc_link&`; no memory of its own. A member's address
///           is even.
/// Threads:  `push`, `empty` any thread; `pop` one thread at a time, whose hand-over synchronises
///           (a mask, say).
/// Progress: never waits. `push` repeats only while others push. Unlike queues that link behind
///           a swapped tail, a pusher that loses the processor hides no other pusher's member.
/// Errors:   none; empty is an ordinary answer. Pushing a queued member is the caller's bug.
/// Source:   R. K. Treiber's stack (IBM RJ 5118, 1986), taken whole and reversed. The popper takes
///           it by remembering how far it has taken, and so changes no word that pushers change.
template <class T, auto link, template <class> class Atomic = atomic>
class mpsc_queue {
  // A push gets a name, its member's address and a bit, and is linked to the name of the one
  // before. `newest_` is the name of the last push, and `taken_` that of the last one taken:
  // members are queued while the two differ, and only names, never memory, are compared.
  // A member belongs to its pusher until (P), then to the list from `newest_` to `taken_`, after
  // (T) to the popper, which keeps it in `oldest_` in order. Hazards and what removes them:
  //   half-written member seen   (P) release -> (T) acquire; `newest_` is changed by (P) alone, a
  //                              read-modify-write, which continues the earlier ones' sequences
  //   found empty, what the      (T') release -> (B') acquire: for progress/core/taken_count.hpp
  //     popper did before unseen
  //   the name of a push that    The bit makes a push's name differ from `taken_` as its pusher
  //     is not taken is that in  reads it (N). The pusher owns the member, so it reads the value
  //     `taken_`: never found    that the member's last taking left, or a later one; and a later
  //                              one is this member's name only once this very push is taken.
  //                              `empty` reads the name (B) before `taken_`, and so no older one.
  // Checked by: tests/model/mpsc_queue_model.cpp, tests/progress/task_stress.cpp under TSan.
 public:
  mpsc_queue() = default;
  mpsc_queue(const mpsc_queue&) = delete;
  mpsc_queue& operator=(const mpsc_queue&) = delete;

  /// seq_cst: pairs with `empty` in threads that first publish that they go to sleep and then look
  /// (the store-load pair of progress/background/kernel_sleeper.hpp).
  void push(T& member) noexcept {
    const auto address = reinterpret_cast<name>(&member);
    const auto mine = address | (taken_.load(std::memory_order_relaxed) == address ? 1 : 0);  // (N)
    auto before = newest_.load(std::memory_order_relaxed);  // a guess, carries nothing
    do {
      link(member).next = before;
    } while (!newest_.compare_exchange_weak(before, mine, std::memory_order_seq_cst,  // (P)
                                            std::memory_order_relaxed));
  }

  /// Nothing was pushed since the last `pop` that answered nullptr.
  [[nodiscard]] bool empty() const noexcept {
    const auto newest = newest_.load(std::memory_order_seq_cst);  // (B)
    return newest == taken_.load(std::memory_order_acquire);      // (B')
  }
  /// The opposite as a hint, for the popper: carries nothing.
  [[nodiscard]] bool fresh() const noexcept {
    return newest_.load(std::memory_order_relaxed) != taken_.load(std::memory_order_relaxed);
  }

  /// The oldest member, or nullptr.
  [[nodiscard]] T* pop() noexcept {
    if (!oldest_) take();
    return next();
  }
  /// The same in two steps: all that was pushed until now, and one after the other. The first only
  /// when the second has answered nullptr.
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
