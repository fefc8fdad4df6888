#pragma once

#include <cstddef>
#include <string>

namespace headway::report {

/// Whether the calls of MPI are recorded, and what becomes of that.
struct settings {
  std::string file;                ///< empty: no page is written
  bool summary = false;            ///< a summary of the job on standard error
  std::size_t traced_entries = 0;  ///< of each thread, in the timeline; 0: there is none

  [[nodiscard]] bool records() const noexcept {
    return !file.empty() || summary || traced_entries != 0;
  }
  /// As HEADWAY_REPORT says; the others are up to the caller.
  [[nodiscard]] static settings from_environment();
  bool operator==(const settings&) const = default;
};

}  // namespace headway::report
