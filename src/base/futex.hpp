#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::base {

/// Which threads share a futex word: those of one process, or of several through shared memory.
enum class futex_scope : std::uint8_t { within_process, between_processes };

enum class futex_outcome : std::uint8_t {
  woken,      ///< woken or interrupted: read the word again, it may be unchanged
  different,  ///< did not sleep: the word no longer held `expected`
  timed_out,
};

inline constexpr std::uint64_t no_deadline = UINT64_MAX;

/// Sleeps while `word` holds `expected`, until woken or until `deadline_ns` (CLOCK_MONOTONIC).
/// Threads:  any. Comparing and falling asleep are atomic with respect to `futex_wake`. A wake-up
///           orders no memory; the accesses to the word must.
futex_outcome futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected,
                         std::uint64_t deadline_ns = no_deadline,
                         futex_scope scope = futex_scope::within_process) noexcept;

/// Wakes at most `count` sleepers and returns their number. The word is not read: within a process
/// its memory may already be reused, and then an unrelated sleeper wakes early, which every caller
/// of `futex_wait` must accept.
int futex_wake(const atomic<std::uint32_t>& word, int count,
               futex_scope scope = futex_scope::within_process) noexcept;

}  // namespace headway::base
