#pragma once

#include <pmix.h>

#include "base/result.hpp"

namespace headway::launch {

/// The functions of libpmix that are used here, loaded on demand: programs not started by a PMIx
/// server do not load the library.
struct pmix_library {
  decltype(&PMIx_Init) init = nullptr;
  decltype(&PMIx_Put) put = nullptr;
  decltype(&PMIx_Commit) commit = nullptr;
  decltype(&PMIx_Fence) fence = nullptr;
  decltype(&PMIx_Get) get = nullptr;
  decltype(&PMIx_Abort) abort = nullptr;
  decltype(&PMIx_Finalize) finalize = nullptr;
  decltype(&PMIx_Error_string) error_string = nullptr;

  /// Errors:   `unsupported` with the loader's reason.
  [[nodiscard]] static base::result<pmix_library> load();
};

}  // namespace headway::launch
