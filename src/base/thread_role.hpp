#pragma once

namespace headway::base {

namespace detail {
/// Initial-exec: one load instead of a call.
extern constinit thread_local bool in_background __attribute__((tls_model("initial-exec")));
extern constinit thread_local bool waits __attribute__((tls_model("initial-exec")));
}  // namespace detail

/// Whether this is a background thread, on a processor that the program computes on. It leaves to
/// others what they can do as well, such as the copy of a transfer that the other end can make.
[[nodiscard]] inline bool runs_in_background() noexcept { return detail::in_background; }

/// Called by a background thread when it starts.
inline void enter_background() noexcept { detail::in_background = true; }

/// Whether this thread of the program waits in a call of the library, and so has time.
[[nodiscard]] inline bool thread_waits() noexcept { return detail::waits; }

/// The calling thread waits for as long as this object lives.
class waiting_thread_scope {
 public:
  waiting_thread_scope() noexcept { detail::waits = true; }
  ~waiting_thread_scope() { detail::waits = false; }
  waiting_thread_scope(const waiting_thread_scope&) = delete;
  waiting_thread_scope& operator=(const waiting_thread_scope&) = delete;
};

}  // namespace headway::base
