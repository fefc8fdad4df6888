#pragma once

#include <string>

namespace headway::report {

/// Whether the calls of MPI are recorded, and what becomes of that.
struct settings {
  std::string file;      ///< empty: no page is written
  bool summary = false;  ///< a summary of the job on standard error

  [[nodiscard]] bool records() const noexcept { return !file.empty() || summary; }
  /// As HEADWAY_REPORT says; `summary` is up to the caller.
  [[nodiscard]] static settings from_environment();
  bool operator==(const settings&) const = default;
};

}  // namespace headway::report
