#include "base/beside.hpp"

namespace headway::base::detail {

constinit thread_local bool runs_beside = false;
constinit thread_local bool waits = false;

}  // namespace headway::base::detail
