#include "base/mask.hpp"

#include <sys/syscall.h>
#include <unistd.h>

namespace headway::base {

mask::ticket next_ticket() noexcept {
  constinit static thread_local mask::ticket last = 0;
  if (last == 0) [[unlikely]]
    last = static_cast<mask::ticket>(syscall(SYS_gettid));
  last += mask::ticket{1} << 32;
  return last;
}

}  // namespace headway::base
