#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace headway::launch {

using job_secret = std::array<std::byte, 32>;

/// What this process is told by whoever started it.
struct identity {
  int rank = 0;
  int size = 1;
  std::string job_id = {};    ///< the same on every rank, unlike that of any other job here
  std::string launcher = {};  ///< "none", "headway", "pmi-1", "rendezvous": for messages
  int app_number = 0;         ///< MPI_APPNUM; -1 unknown
  int universe_size = -1;     ///< MPI_UNIVERSE_SIZE; -1 unknown
};

/// The job that this process is a member of: who am I, and a key-value exchange with the others.
/// Threads:  one thread at a time; `abort` any thread.
/// Progress: every call has a deadline (HEADWAY_START_TIMEOUT) and names what it waited for.
/// Errors:   `bad_input` when the launcher talks nonsense, `peer_lost` when it goes away.
/// Source:   PMI-1 as in data/mpi5/launch_facts.md, sections 2 and 6.
class job {
 public:
  /// Finds out by the environment: HEADWAY_RENDEZVOUS → a rendezvous, whoever started us; PMI_FD or
  /// PMI_PORT → PMI-1, else a single process. Says in one line on standard error when the
  /// environment is that of a launcher that we do not understand.
  [[nodiscard]] static base::result<std::unique_ptr<job>> join();
  virtual ~job() = default;

  [[nodiscard]] virtual const identity& who() const noexcept = 0;
  /// Known to the processes of this job only (after the first `exchange`).
  [[nodiscard]] virtual const job_secret& secret() const noexcept = 0;
  /// Any bytes under a short name (≤ 32 letters, digits, '-', '_'). Visible after `exchange`.
  [[nodiscard]] virtual base::result<> publish(std::string_view name,
                                               std::span<const std::byte> value) = 0;
  /// Collective: returns when every rank has come here.
  [[nodiscard]] virtual base::result<> exchange() = 0;
  [[nodiscard]] virtual base::result<std::vector<std::byte>> lookup(int rank,
                                                                    std::string_view name) = 0;
  /// Ends the whole job with this exit code. Returns only if the launcher could not be reached.
  virtual void abort(int exit_code, std::string_view why) noexcept = 0;
  /// Says good-bye; nothing may be called after it. Leaving without it counts as dying.
  [[nodiscard]] virtual base::result<> finish() = 0;
};

}  // namespace headway::launch
