// Replaces pmix_launcher.cpp if the build found no header of PMIx.
#include "launch/pmix/pmix_launcher.hpp"

namespace headway::launch {

base::result<std::unique_ptr<launcher>> join_pmix(const settings&) {
  return base::failed(base::fault_kind::unsupported,
                      "started by a PMIx server, and this library was built without PMIx "
                      "(libpmix-dev)");
}

}  // namespace headway::launch
