#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::base {

/// Who may share a futex word: threads of this process, or other processes through shared memory.
enum class futex_scope : std::uint8_t { within_process, between_processes };

enum class futex_outcome : std::uint8_t {
  woken,      ///< woken, or interrupted: look again, it may be nothing
  different,  ///< the word did not hold `expected` any more; did not sleep
  timed_out,
};

inline constexpr std::uint64_t no_deadline = UINT64_MAX;

/// Sleeps while `word` holds `expected`, until woken or `deadline_ns` (as base::now_ns).
/// Threads:  any. The kernel compares and falls asleep as one step against `futex_wake`, but a
///           wake-up carries no data: the word's own memory orders must.
futex_outcome futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected,
                         std::uint64_t deadline_ns = no_deadline,
                         futex_scope scope = futex_scope::within_process) noexcept;

/// Wakes at most `count` sleepers; how many it were. The word itself is not read: within a process
/// its memory may be gone by now, then a stranger's sleep ends early, which every sleeper bears.
int futex_wake(const atomic<std::uint32_t>& word, int count,
               futex_scope scope = futex_scope::within_process) noexcept;

}  // namespace headway::base
