#pragma once

#include <csignal>

namespace headway::base {

/// While it lives, this thread gets EFBIG from a call that would make a file larger than this
/// process may (RLIMIT_FSIZE, `ulimit -f`), as the call's manual page says. Otherwise the kernel
/// also raises SIGXFSZ, which ends the process.
///
/// Threads:  made and destroyed by one thread, which it is for.
/// Progress: never waits; three or four system calls.
/// Errors:   none; errno is left as it is.
class file_size_errors {
 public:
  file_size_errors() noexcept;
  ~file_size_errors();
  file_size_errors(const file_size_errors&) = delete;
  file_size_errors& operator=(const file_size_errors&) = delete;

 private:
  sigset_t before_;  // this thread's mask
  bool was_pending_ = false;
};

}  // namespace headway::base
