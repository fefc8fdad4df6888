#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "launch/identity.hpp"
#include "launch/start_mpiexec.hpp"

namespace headway::launch {

/// A process's connection to its launcher: its identity, and a way to exchange values with the
/// other processes of its job. One implementation for each kind of launcher: pmi1, pmix,
/// rendezvous, single.
///
/// `publish` is collective. Each process gives a value, which may be empty; afterwards any process
/// can get the value of any other, until the next `publish`.
/// Threads:  one at a time; `abort` any thread, at any time.
/// Progress: every call has a deadline (settings::start_timeout_ns) and names what it waited for.
/// Errors:   `bad_input` if the launcher violates its protocol, `peer_lost` if its connection ends.
class launcher {
 public:
  virtual ~launcher() = default;

  [[nodiscard]] virtual const identity& who() const noexcept = 0;
  /// The job's secret, if the launcher makes one. Nothing: the processes have to agree on one.
  [[nodiscard]] virtual std::optional<job_secret> secret() const = 0;
  /// Publishes our value, of at most `record_bytes_max`, and returns when every process of the job
  /// has published one.
  [[nodiscard]] virtual base::result<> publish(std::span<const std::byte> value) = 0;
  /// Collective: returns when every process has called it. Does not change the values.
  [[nodiscard]] virtual base::result<> barrier() = 0;
  /// What `rank`, which is in the job, published last.
  [[nodiscard]] virtual base::result<std::vector<std::byte>> value_of(int rank) = 0;
  /// Ends the whole job with this exit code. Returns only if the launcher cannot be reached.
  virtual void abort(int exit_code, std::string_view why) noexcept = 0;
  /// Starts another job. Returns the process of its mpiexec on this machine, which may have ended.
  [[nodiscard]] virtual base::result<pid_t> spawn(const spawn_request& what) {
    return start_mpiexec(what);
  }
  /// Leaves the job; nothing may be called afterwards. A process that ends without it counts as
  /// failed.
  [[nodiscard]] virtual base::result<> finish() = 0;
};

}  // namespace headway::launch
