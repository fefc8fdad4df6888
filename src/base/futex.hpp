#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::base {

/// Which threads share a futex word: those of this process, or of several, in shared memory.
enum class futex_scope : std::uint8_t { within_process, between_processes };

enum class futex_outcome : std::uint8_t {
  woken,      ///< woken, or interrupted: look again, it may be nothing
  different,  ///< the word did not hold `expected` any more; did not sleep
  timed_out,
};

inline constexpr std::uint64_t no_deadline = UINT64_MAX;

/// Sleeps while `word` holds `expected`, until woken or `deadline_ns` (as base::now_ns).
/// Threads:  any. Comparing and falling asleep are one step with respect to `futex_wake`. A wake-up
///           orders no memory: the accesses of the word must.
futex_outcome futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected,
                         std::uint64_t deadline_ns = no_deadline,
                         futex_scope scope = futex_scope::within_process) noexcept;

/// Wakes at most `count` sleepers and returns how many it were. The word itself is not read: within
/// a process its memory may be in other use by now, and then an unrelated sleep ends early, for
/// which every sleeper is prepared.
int futex_wake(const atomic<std::uint32_t>& word, int count,
               futex_scope scope = futex_scope::within_process) noexcept;

}  // namespace headway::base
