#pragma once

namespace headway::base {

namespace detail {
/// Initial-exec: one load instead of a call.
extern constinit thread_local bool runs_beside __attribute__((tls_model("initial-exec")));
}  // namespace detail

/// Whether this thread works in the background, on a processor that the program computes on. What
/// somebody else could do as well, say the other end of a transfer, is then left to him.
[[nodiscard]] inline bool runs_beside_computing() noexcept { return detail::runs_beside; }

/// For such a thread, at its start.
inline void run_beside_computing() noexcept { detail::runs_beside = true; }

}  // namespace headway::base
