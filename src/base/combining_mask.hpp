#pragma once

#include <atomic>

#include "base/thread_annotations.hpp"

namespace headway::base {

/// A try-lock whose holder also processes what other threads submit meanwhile: no thread waits, and
/// every submitted member is processed.
/// Use:      each thread that has work runs both lines; with the first alone, a member that is
///           submitted while the holder leaves could be left behind.
///             if (try_hold()) { work; let_go(); } else { submit(member); }
///             while (any_submitted() && try_hold()) { for (all of take_all()) work; let_go(); }
/// Shape:    two words; `Next` is the member's own link to the next one.
/// Threads:  `submit`, `any_submitted` and `try_hold` any thread; the rest the holder.
/// Progress: lock-free.
/// Errors:   none. A member must not be submitted again before it was taken.
/// Source:   flat combining (Hendler et al., SPAA 2010) on Treiber's stack (IBM RJ 5118, 1986),
///           which is taken whole, so that there is no ABA.
template <class T, template <class> class Atomic, Atomic<T*> T::* Next>
class HEADWAY_CAPABILITY("mask") combining_mask {
  // Ownership: a member belongs to its submitter until (P), to the list until (T), then to the
  // holder.
  // Hazards, and the edge that removes each:
  //   the holder sees a half-written member     (P) release -> (T) acquire
  //   a holder sees half of an earlier's work   (B) release -> (A) acquire
  //   a submitter finds the mask taken while the holder leaves without its member: (A), (B), (P)
  //   and (E) are seq_cst. If (P) precedes the leaving holder's (E), that (E) sees the member.
  //   Otherwise the submitter's next (A) follows (B) and finds the mask free.
  // Checked by: tests/model/combining_mask_model.cpp (each edge weakened fails there).
 public:
  [[nodiscard]] bool try_hold() noexcept HEADWAY_TRY_ACQUIRE(true) {
    return !held_.exchange(true, std::memory_order_seq_cst);  // (A)
  }
  void let_go() noexcept HEADWAY_RELEASE() {
    held_.store(false, std::memory_order_seq_cst);  // (B)
  }

  void submit(T& member) noexcept {
    T* head = newest_.load(std::memory_order_relaxed);  // may be stale; the exchange checks it
    do {
      (member.*Next).store(head, std::memory_order_relaxed);  // published by (P)
    } while (!newest_.compare_exchange_weak(head, &member, std::memory_order_seq_cst,  // (P)
                                            std::memory_order_relaxed));
  }

  [[nodiscard]] bool any_submitted() const noexcept {
    return newest_.load(std::memory_order_seq_cst) != nullptr;  // (E)
  }

  /// All submitted members, the oldest first, linked by `Next`; nullptr ends the list.
  [[nodiscard]] T* take_all() noexcept {
    T* newest = newest_.exchange(nullptr, std::memory_order_acquire);  // (T)
    T* oldest = nullptr;
    while (newest) {
      T* older = (newest->*Next).load(std::memory_order_relaxed);  // the holder's since (T)
      (newest->*Next).store(oldest, std::memory_order_relaxed);
      oldest = newest;
      newest = older;
    }
    return oldest;
  }

 private:
  Atomic<bool> held_{false};
  Atomic<T*> newest_{nullptr};
};

}  // namespace headway::base
