#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::progress {

/// The sleep of the event thread on event sources that other threads arm and disarm.
///
/// It sleeps in the kernel while the sources are not armed, so that nothing wakes it. A thread that
/// starts something arms them in its place, which costs some stores: were the event thread woken to
/// do it, the starter would pay for a wake-up, and lose its processor to it where every processor
/// computes. A thread that polls disarms the sources while it does, so that peers need not ring.
///
/// Shape:    two words.
/// Threads:  `begin`, `try_end` the thread that parks; the others any.
/// Progress: never waits; `arm` and `attend` call their argument, which may make system calls.
template <template <class> class Atomic = base::atomic>
class basic_parking {
  // Hazard: something starts, and neither its starter arms the sources nor any other thread polls.
  // Accesses marked (*) are seq_cst. A starter has counted its start (*, (A) of core/pending.hpp)
  // before it calls `arm`, and then does one of these:
  //   It finds no thread parked (*): the one that parks has ended that, and looks before it sleeps
  //   again; or it is about to park, checks for work (*, (B)) after `begin` (*), and calls `arm`.
  //   It finds a thread that attends (*): that thread calls `arm` after `leave` (*), and finds the
  //   start, because its check comes later in the one order of these accesses.
  //   It finds the sources armed: another thread has armed them while the event thread was parked,
  //   and a thread that disarms them attends, see above; or the event thread ends its sleep and
  //   looks.
  //   It finds a change under way: towards armed, see above; or by a thread that attends, whose
  //   `leave` is still to come, because the load (*) came before the store (*) that ends the
  //   change.
  // Checked by: tests/model/parking_model.cpp.
 public:
  /// The sources are not armed. The caller checks for work before it sleeps, and calls `arm` if
  /// there is some.
  void begin() noexcept { state_.store(unarmed, std::memory_order_seq_cst); }
  enum class ended : std::uint8_t { not_yet, unarmed, armed };
  /// After the sleep. `not_yet`: another thread arms or disarms the sources; try again.
  [[nodiscard]] ended try_end() noexcept {
    auto seen = state_.load(std::memory_order_seq_cst);
    if (seen == changing ||
        !state_.compare_exchange_strong(seen, no_thread, std::memory_order_seq_cst))
      return ended::not_yet;
    return seen == armed ? ended::armed : ended::unarmed;
  }
  /// A hint on the path of every wait.
  [[nodiscard]] bool any() const noexcept {
    return state_.load(std::memory_order_relaxed) != no_thread;
  }

  /// A thread is parked, and no thread has armed the sources or is arming them. A thread that arms
  /// them later sees what the caller has written before this call (seq_cst).
  [[nodiscard]] bool none_armed() const noexcept {
    return state_.load(std::memory_order_seq_cst) == unarmed;
  }

  /// Something has started, or a thread has stopped polling. Calls `arm` unless a thread polls or
  /// the sources are armed.
  template <class Arm>
  void arm(Arm&& arm) noexcept {
    if (attending_.load(std::memory_order_seq_cst) == 0) change(unarmed, armed, arm);
  }
  /// The calling thread polls from now on: calls `disarm` if the sources are armed.
  template <class Disarm>
  void attend(Disarm&& disarm) noexcept {
    attending_.fetch_add(1, std::memory_order_seq_cst);
    change(armed, unarmed, disarm);
  }
  /// A thread polls, and calls `arm` after `leave` if anything is pending.
  [[nodiscard]] bool attended() const noexcept {
    return attending_.load(std::memory_order_seq_cst) != 0;
  }
  /// It has stopped polling; it calls `arm` afterwards if anything is pending (a seq_cst load).
  void leave() noexcept { attending_.fetch_sub(1, std::memory_order_seq_cst); }

 private:
  using word = std::uint32_t;
  static constexpr word no_thread = 0, unarmed = 1, changing = 2, armed = 3;

  template <class Call>
  void change(word from, word to, Call&& call) noexcept {
    if (state_.load(std::memory_order_seq_cst) != from) return;
    if (!state_.compare_exchange_strong(from, changing, std::memory_order_seq_cst)) return;
    call();
    state_.store(to, std::memory_order_seq_cst);
  }

  Atomic<word> state_{no_thread};
  Atomic<word> attending_{0};
};

}  // namespace headway::progress
