#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "base/mask.hpp"
#include "progress/standing.hpp"
#include "progress/wake_word.hpp"

namespace headway::progress {

class completion;
class guard;
class ltask;
class meter;

/// A thread as completions see it.
struct alignas(64) waiter {
  basic_wake_word<> word;
  /// Whom to kick when it rests on a guard. Relaxed: `lie_down` releases it to `signal`. By the
  /// time a slow signaller reads it, it may be that of a later wait, which then looks in vain.
  base::atomic<guard*> where{nullptr};
};

/// A wake-up that a signaller has taken upon itself.
struct owed_wake_up {
  waiter* who = nullptr;
  rest was = rest::awake;
};

/// Threads that were woken from their futex and have not run since. Relaxed: a hint for who spins,
/// carries nothing; below 0 for a moment where a thread got up before its wake-up was paid.
extern constinit base::atomic<int> roused_threads;

/// Wakes a thread out of the rest that `signal` took away. A system call.
void rouse(const owed_wake_up& owed) noexcept;

/// Tells a waiting thread to look again, and wakes it if it sleeps: at once, or at the end of the
/// round in which the calling thread is. Defined in completion.cpp.
void signal(waiter& sleeper) noexcept;

/// What the engine keeps of a thread.
/// Shape:    about 1.3 KB; as many as ever were threads at the same time.
/// Threads:  its own thread, but for the waiter's word.
/// Progress: lives for ever: a thread that ends gives its record to the next that comes. That is
///           why a late signal finds a waiter in any case, and no wait has to stay until the thread
///           that signals, which may have lost its processor, is through.
struct thread_record {
  static constexpr std::size_t owed_max = 64;

  waiter self;
  base::mask::ticket ticket = 0;          ///< of the last tenure of a mask; see base/mask.hpp
  const ltask* running = nullptr;         ///< whose body runs on this thread
  const completion* spins_for = nullptr;  ///< the one that it waits for, awake; see completion.cpp
  meter* measured = nullptr;              ///< where somebody asks: progress/meter.hpp
  bool in_round = false;                  ///< put wake-ups off to the end of it
  std::size_t owed_count = 0;
  std::array<owed_wake_up, owed_max> owed;
  /// Moving estimates, for the length of the next spin: of waits for one, and for any of several.
  std::array<std::uint64_t, 2> recent_wait_ns{};
  std::uint32_t brief_waits = 0;       ///< that spun briefly, because recent ones took long
  std::uint64_t delay_due_ns = 0;      ///< when to look next …
  std::uint64_t ran_ns = 0;            ///< … how long it had run at the last look …
  std::uint64_t delayed_ns = 0;        ///< … had wanted a processor in vain …
  std::uint64_t turns = 0;             ///< … and had been given one
  std::uint32_t inside = 0;            ///< of the library, under coarse locking
  std::uint32_t rounds = 0;            ///< of this thread, to do some things every n-th
  std::uint32_t favours = 0;           ///< waits that ended awake while others needed a processor
  std::uint64_t had_weight_ns = 0;     ///< when a wait with weight ended last
  base::mask::ticket stalled_by = 0;   ///< tenure that kept a mask at the last look …
  std::uint64_t stalled_since_ns = 0;  ///< … and when it was seen first
  base::atomic<int> thread{0};         ///< the kernel's number. Relaxed: a name, carries nothing
  standing in_kernel;                  ///< any thread's
  thread_record* next_free = nullptr;
  thread_record* next_made = nullptr;  ///< constant: the list of all

  [[nodiscard]] base::mask::ticket next_ticket() noexcept {
    return ticket += base::mask::ticket{1} << 32;
  }
  void pay_wake_ups() noexcept {
    for (std::size_t i = 0; i < owed_count; ++i) rouse(owed[i]);
    owed_count = 0;
  }
};

/// The record of a thread of this process; nullptr: it has none. A short lock.
[[nodiscard]] thread_record* record_of(int thread) noexcept;

namespace detail {
/// Initial-exec: one load instead of a call. Eight bytes fit in the room that the C library keeps
/// for libraries loaded late.
extern constinit thread_local thread_record* current_record
    __attribute__((tls_model("initial-exec")));
[[nodiscard]] thread_record& adopt_thread() noexcept;
}  // namespace detail

/// Signals every thread that waits, for none to sleep on an assumption that holds no more.
void disturb_all() noexcept;

[[nodiscard]] inline thread_record& this_thread() noexcept {
  auto* const record = detail::current_record;
  return record ? *record : detail::adopt_thread();
}

}  // namespace headway::progress
