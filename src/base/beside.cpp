#include "base/beside.hpp"

namespace headway::base::detail {

constinit thread_local bool runs_beside = false;

}  // namespace headway::base::detail
