#pragma once

namespace headway::base {

namespace detail {
/// Initial-exec: one load instead of a call.
extern constinit thread_local bool runs_beside __attribute__((tls_model("initial-exec")));
extern constinit thread_local bool waits __attribute__((tls_model("initial-exec")));
}  // namespace detail

/// Whether this thread works in the background, on a processor that the program computes on. What
/// somebody else could do as well, say the other end of a transfer, is then left to him.
[[nodiscard]] inline bool runs_beside_computing() noexcept { return detail::runs_beside; }

/// For such a thread, at its start.
inline void run_beside_computing() noexcept { detail::runs_beside = true; }

/// Whether this thread of the program waits in a call of ours, and so has time.
[[nodiscard]] inline bool thread_waits() noexcept { return detail::waits; }

/// For as long as it lives, it does.
class thread_waits_here {
 public:
  thread_waits_here() noexcept { detail::waits = true; }
  ~thread_waits_here() { detail::waits = false; }
  thread_waits_here(const thread_waits_here&) = delete;
  thread_waits_here& operator=(const thread_waits_here&) = delete;
};

}  // namespace headway::base
