#include "launch/pmix/pmix_library.hpp"

#include <fmt/format.h>

#include "base/shared_library.hpp"

namespace headway::launch {
namespace {

base::result<pmix_library> find_all() {
  // Never unloaded: the library has threads, and handlers that run when the process ends.
  const auto library =
      base::shared_library::load("libpmix.so.2", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) return std::unexpected(library.error());
  pmix_library made;
  const auto found =
      library->find("PMIx_Init", made.init, "PMIx_Put", made.put, "PMIx_Commit", made.commit,
                    "PMIx_Fence", made.fence, "PMIx_Get", made.get, "PMIx_Abort", made.abort,
                    "PMIx_Finalize", made.finalize, "PMIx_Error_string", made.error_string);
  if (!found) return std::unexpected(found.error());
  return made;
}

}  // namespace

base::result<pmix_library> pmix_library::load() {
  auto made = find_all();
  if (made) return made;
  return base::failed(made.error().kind,
                      fmt::format("started by a PMIx server, and {}", made.error().text));
}

}  // namespace headway::launch
