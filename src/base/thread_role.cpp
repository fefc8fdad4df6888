#include "base/thread_role.hpp"

namespace headway::base::detail {

constinit thread_local bool in_background = false;
constinit thread_local bool waits = false;

}  // namespace headway::base::detail
