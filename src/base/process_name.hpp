#pragma once

#include <cstdint>

namespace headway::base {

/// What names a process among all that run on a machine, containers included.
struct process_name {
  std::uint64_t pid_namespace = 0;  ///< 0: not known
  std::uint32_t pid = 0;

  /// Of the calling process. System calls.
  [[nodiscard]] static process_name own() noexcept;

  bool operator==(const process_name&) const = default;
};

/// Whether that process has ended, also if its parent has not waited for it yet. False, too, if it
/// cannot be told: it is in another namespace. System calls; any thread.
[[nodiscard]] bool has_ended(const process_name& which) noexcept;

}  // namespace headway::base
