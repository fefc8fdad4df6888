#include "base/file_size_errors.hpp"

#include <cerrno>
#include <ctime>

namespace headway::base {
namespace {

sigset_t only_sigxfsz() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

}  // namespace

file_size_errors::file_size_errors() noexcept {
  const sigset_t set = only_sigxfsz();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
  sigset_t pending;
  was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

file_size_errors::~file_size_errors() {
  const int kept = errno;
  const sigset_t set = only_sigxfsz();
  const timespec at_once{};
  while (!was_pending_ && sigtimedwait(&set, nullptr, &at_once) < 0 && errno == EINTR) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = kept;
}

}  // namespace headway::base
