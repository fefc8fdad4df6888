#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "base/hash.hpp"

namespace headway::processes {

/// A process, as its index in this process's `table`. Other processes have other indices for the
/// same process, so a `peer_id` is never sent.
enum class peer_id : std::uint32_t {};

/// Names a process alike in every process: the job in which it was started, and its rank there.
struct process_id {
  std::uint64_t job = 0;
  std::uint32_t rank = 0;
  auto operator<=>(const process_id&) const = default;
};

/// A job's number, from the name given by its launcher.
[[nodiscard]] constexpr std::uint64_t job_id_of(std::string_view name) noexcept {
  return base::hash_of(name);
}

}  // namespace headway::processes
