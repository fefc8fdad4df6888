#pragma once

#include <cstdint>
#include <string>

namespace headway::base {

// What tells this machine and its containers from others. Read once; what cannot be read gets a
// line in the log, because processes that see it differently do not find each other. Any thread.

/// Of the running kernel: the same in all its containers. Empty: unknown.
[[nodiscard]] const std::string& boot_id();

/// The inode of a namespace of this process; 0: unknown.
[[nodiscard]] std::uint64_t pid_namespace();
[[nodiscard]] std::uint64_t network_namespace();

}  // namespace headway::base
