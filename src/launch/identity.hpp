#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace headway::launch {

/// A secret of the processes of one job, which authenticates their connections.
using job_secret = std::array<std::byte, 32>;

/// What the launcher tells a process about itself and its job.
struct identity {
  int rank = 0;
  int size = 1;
  std::string job_id = {};    ///< equal on every rank, different from that of any other job here
  std::string launcher = {};  ///< "none", "headway", "pmi-1", "pmix", "rendezvous": for messages
  int app_number = 0;         ///< MPI_APPNUM; -1 unknown
  int universe_size = -1;     ///< MPI_UNIVERSE_SIZE; -1 unknown
};

/// Whether a job can have `size` processes, one of them with this rank.
[[nodiscard]] bool is_place(std::int64_t rank, std::int64_t size) noexcept;

/// A launcher's name for the job as a part of file names: letters, digits, '-', '_', '.', at most
/// 65 characters; a name that had to be changed ends in a hash of the original.
[[nodiscard]] std::string file_safe(std::string_view name);

}  // namespace headway::launch
