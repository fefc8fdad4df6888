#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "topology/machine.hpp"

namespace headway::progress {

struct thread_plan {
  std::string name;             ///< at most 15 letters
  std::vector<int> processors;  ///< it may run on; empty: those of its creator
};

/// Starts a background thread: named, every signal blocked, on its processors.
/// Errors:   throws std::system_error, which names the thread; the caller's mask is as before.
[[nodiscard]] std::thread start_thread(const thread_plan& plan, std::function<void()> body);

/// Whether `start_thread` has started it. Any thread; a short lock.
[[nodiscard]] bool is_own_thread(int thread) noexcept;

/// The processors that a thread of this process may run on, ascending. Empty: it has ended.
[[nodiscard]] std::vector<int> processors_of_thread(int thread);
/// Restricts a thread of this process to these; empty: no change. False: the kernel refused.
bool bind_thread(int thread, const std::vector<int>& processors) noexcept;
/// Where a background thread may run if it has no place of its own: the whole cpuset of the
/// process. Empty on an imagined machine, meaning the processors of its creator.
[[nodiscard]] std::vector<int> usable_processors(const topology::machine& machine);

/// Timed sleeps of the calling thread may end up to `ns` after they are due. The kernel uses that
/// to end several sleeps with one timer interrupt. The kernel's default is 50 us.
void set_timer_slack(std::uint64_t ns) noexcept;
constexpr std::uint64_t least_timer_slack_ns = 1'000;

/// Requests short slices, so that this thread runs soon after it is woken although every core
/// computes: after 0.14 ms instead of 3.3. Linux before 6.12 ignores it.
void ask_short_slices() noexcept;
/// The same, and three times the scheduling weight (a nice value 5 less) where the kernel permits
/// it (CAP_SYS_NICE or RLIMIT_NICE). For a thread that is woken often and runs briefly each time:
/// once it has used its share, it would otherwise wait until another thread's time slice ends.
void ask_short_slices_and_weight() noexcept;

/// How long the calling thread has run, and how long it was ready without a processor.
struct thread_times {
  std::uint64_t ran_ns = 0;
  std::uint64_t delayed_ns = 0;
  std::uint64_t turns = 0;  ///< how often it was given a processor
};
/// Nothing if the kernel has no such counters. About 4 us.
[[nodiscard]] std::optional<thread_times> own_times() noexcept;

/// Makes the calling thread run before all ordinary ones, in SCHED_FIFO or SCHED_RR at the lowest
/// of their priorities. False: not permitted (CAP_SYS_NICE or RLIMIT_RTPRIO).
[[nodiscard]] bool run_in_real_time(int policy) noexcept;

/// Whether the kernel lets a thread of this process into SCHED_IDLE and out of it again; the latter
/// requires that it could also raise the thread's nice value.
[[nodiscard]] bool may_run_when_idle() noexcept;

/// Makes the calling thread run only on otherwise idle processors (SCHED_IDLE). If the kernel would
/// not permit the way back (RLIMIT_NICE), it gets the least weight instead.
void run_when_idle() noexcept;

/// The same for a thread that polls without pause, and so loses its processor in the middle of a
/// round: if the kernel would not permit `lift` to end that, it remains an ordinary thread, but one
/// that does not preempt another when it wakes (SCHED_BATCH).
void run_when_spare() noexcept;

/// Whether the kernel lets a thread of this process have a greater weight (CAP_SYS_NICE, or an
/// RLIMIT_NICE of 40). Changes nothing.
[[nodiscard]] bool may_take_greatest_weight() noexcept;

/// Takes a background thread out of the idle class, so that it runs and releases what it holds.
/// False: the kernel refuses.
bool lift(pid_t thread) noexcept;

}  // namespace headway::progress
