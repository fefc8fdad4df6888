#pragma once

namespace headway::base {

namespace detail {
/// Initial-exec: one load instead of a call.
extern constinit thread_local bool in_background __attribute__((tls_model("initial-exec")));
extern constinit thread_local bool waits __attribute__((tls_model("initial-exec")));
}  // namespace detail

/// Whether the caller is a background thread. It competes with the program for a processor, and so
/// leaves to others what they can do as well, such as a copy that the other process can make.
[[nodiscard]] inline bool runs_in_background() noexcept { return detail::in_background; }

/// Called by a background thread when it starts.
inline void enter_background() noexcept { detail::in_background = true; }

/// Whether the caller is a thread of the program that waits in a call of the library, and so has
/// time for other work.
[[nodiscard]] inline bool thread_waits() noexcept { return detail::waits; }

/// `thread_waits()` is true in the calling thread for as long as this object lives.
class waiting_thread_scope {
 public:
  waiting_thread_scope() noexcept { detail::waits = true; }
  ~waiting_thread_scope() { detail::waits = false; }
  waiting_thread_scope(const waiting_thread_scope&) = delete;
  waiting_thread_scope& operator=(const waiting_thread_scope&) = delete;
};

}  // namespace headway::base
