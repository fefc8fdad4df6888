#include "base/process_name.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/host_identity.hpp"

namespace headway::base {

process_name process_name::own() noexcept {
  return {.pid_namespace = base::pid_namespace(), .pid = static_cast<std::uint32_t>(getpid())};
}

bool has_ended(const process_name& which) noexcept {
  if (which.pid_namespace == 0 || which.pid_namespace != base::pid_namespace()) return false;
  const auto pid = static_cast<pid_t>(which.pid);
  const auto process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (process < 0) return kill(pid, 0) != 0 && errno == ESRCH;  // no descriptor is left, perhaps
  pollfd ended{process, POLLIN, 0};
  const bool is_over = ::poll(&ended, 1, 0) > 0;
  ::close(process);
  return is_over;
}

}  // namespace headway::base
