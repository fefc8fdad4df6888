#include "base/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace headway::base {
namespace {

int operation(int which, futex_scope scope) noexcept {
  return scope == futex_scope::within_process ? which | FUTEX_PRIVATE_FLAG : which;
}

}  // namespace

futex_outcome futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected,
                         std::uint64_t deadline_ns, futex_scope scope) noexcept {
  // The bitset form takes an absolute time of CLOCK_MONOTONIC: no clock read before the call.
  const timespec until{static_cast<time_t>(deadline_ns / 1'000'000'000u),
                       static_cast<long>(deadline_ns % 1'000'000'000u)};
  const long rc =
      syscall(SYS_futex, &word, operation(FUTEX_WAIT_BITSET, scope), expected,
              deadline_ns == no_deadline ? nullptr : &until, nullptr, FUTEX_BITSET_MATCH_ANY);
  if (rc == 0 || errno == EINTR) return futex_outcome::woken;
  return errno == ETIMEDOUT ? futex_outcome::timed_out : futex_outcome::different;
}

int futex_wake(const atomic<std::uint32_t>& word, int count, futex_scope scope) noexcept {
  const long rc =
      syscall(SYS_futex, &word, operation(FUTEX_WAKE, scope), count, nullptr, nullptr, 0);
  return rc > 0 ? static_cast<int>(rc) : 0;
}

}  // namespace headway::base
