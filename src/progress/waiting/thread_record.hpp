#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "base/mask.hpp"
#include "progress/completion/wake_word.hpp"
#include "progress/os/sched_boost.hpp"
#include "progress/waiting/yield_patience.hpp"

namespace headway::progress {

class completion;
class ltask;
class meter;
class sleep_place;

/// The part of a thread that completions use.
struct alignas(64) waiter {
  basic_wake_word<> word;
  /// What to kick if it sleeps on event sources. Relaxed: `begin_sleep` releases it to `signal`.
  /// When a slow signaller reads it, it may belong to a later wait, which then looks in vain.
  base::atomic<sleep_place*> sleeps_at{nullptr};
};

/// A wake-up that the signaller still has to make.
struct owed_wake_up {
  waiter* sleeper = nullptr;
  sleep_state was = sleep_state::awake;
};

/// How many threads were woken from their futex and have not run since. Relaxed: a hint for threads
/// that spin; below 0 for a moment if a thread ran before its wake-up was counted.
extern constinit base::atomic<int> woken_threads;

/// Wakes a thread whose sleep `signal` has ended. A system call.
void wake_thread(const owed_wake_up& owed) noexcept;

/// Makes a waiting thread look again, and wakes it if it sleeps: at once, or at the end of the
/// calling thread's round. Defined in completion.cpp.
void signal(waiter& sleeper) noexcept;

/// The state of a thread in the engine.
/// Shape:    about 1.3 KB; as many as there ever were threads at the same time.
/// Threads:  its own thread, except the waiter's word, `thread` and `in_kernel`.
/// Progress: is never freed: a thread that ends leaves its record to the next new one. So a late
///           signal always finds a waiter, and a wait need not last until the signalling thread,
///           which may have lost its processor, has finished.
struct thread_record {
  static constexpr std::size_t owed_max = 64;

  waiter self;
  base::mask::ticket ticket = 0;          ///< of the last tenure of a mask; see base/mask.hpp
  const ltask* running = nullptr;         ///< the ltask whose body runs on this thread
  const completion* spins_for = nullptr;  ///< the completion for which it spins; see completion.cpp
  meter* measured = nullptr;              ///< null if not metered: progress/core/meter.hpp
  bool attends = false;                   ///< see quiet_sleep::attend
  bool in_round = false;                  ///< wake-ups are deferred to the end of the round
  bool looks_again = false;               ///< another round follows this one: engine::look_now
  std::size_t owed_count = 0;
  std::array<owed_wake_up, owed_max> owed;
  /// Moving estimates for the length of the next spin: of waits for one, and for any of several.
  std::array<std::uint64_t, 2> recent_wait_ns{};
  std::uint64_t recent_follow_ns = 0;  ///< the same of waits for which another thread polled
  std::uint32_t long_follows = 0;      ///< waits not watched, because recent ones took long
  std::uint32_t brief_waits = 0;       ///< waits that spun briefly, because recent ones took long
  std::uint32_t vain_spins = 0;        ///< in a row, that found nothing
  yield_patience patience;             ///< with waits among more ranks than processors
  std::uint64_t delay_due_ns = 0;      ///< when to look next …
  std::uint64_t ran_ns = 0;            ///< … how long it had run at the last look …
  std::uint64_t delayed_ns = 0;        ///< … had wanted a processor in vain …
  std::uint64_t turns = 0;             ///< … and had been given one
  std::uint32_t library_depth = 0;     ///< how often it holds library_lock.hpp
  std::uint32_t rounds = 0;            ///< polling rounds, for actions in every n-th one
  std::uint32_t slept_waits = 0;       ///< in a row, that went to sleep on the futex
  std::uint32_t idle_rounds = 0;       ///< that found nothing, before the last one of its spin
  std::uint32_t awake_waits = 0;       ///< in a row, while woken threads needed a processor
  std::uint64_t boost_ended_ns = 0;    ///< when a wait with weight ended last
  base::mask::ticket stalled_by = 0;   ///< tenure that kept a mask at the last look …
  std::uint64_t stalled_since_ns = 0;  ///< … and when it was seen first
  base::atomic<int> thread{0};         ///< the kernel's number; relaxed, carries nothing
  sched_boost in_kernel;               ///< its treatment by the scheduler; any thread may raise it
  thread_record* next_free = nullptr;
  thread_record* next_made = nullptr;  ///< constant: the list of all

  [[nodiscard]] base::mask::ticket next_ticket() noexcept {
    return ticket += base::mask::ticket{1} << 32;
  }
  /// This thread and the one that it has to wake answer in turns: no wait of this one has ended
  /// without a sleep lately, and nothing came while it looked for what it found. Of many pairs that
  /// exchange messages, where each change of threads is a loss, some message is always there.
  [[nodiscard]] bool answers_in_turns() const noexcept {
    constexpr std::uint32_t slept_min = 8, idle_min = 2;
    return owed_count == 1 && slept_waits >= slept_min && idle_rounds >= idle_min;
  }
  void pay_wake_ups() noexcept {
    for (std::size_t i = 0; i < owed_count; ++i) wake_thread(owed[i]);
    owed_count = 0;
  }
};

/// The record of a thread of this process; nullptr: it has none. A short lock.
[[nodiscard]] thread_record* record_of(int thread) noexcept;

namespace detail {
/// Initial-exec: one load instead of a call. The C library reserves enough for eight bytes in
/// libraries that are loaded late.
extern constinit thread_local thread_record* current_record
    __attribute__((tls_model("initial-exec")));
[[nodiscard]] thread_record& adopt_thread() noexcept;
}  // namespace detail

/// Signals every waiting thread, because a condition on which some sleeps rely has changed.
void signal_all() noexcept;

[[nodiscard]] inline thread_record& this_thread() noexcept {
  auto* const record = detail::current_record;
  return record ? *record : detail::adopt_thread();
}

}  // namespace headway::progress
