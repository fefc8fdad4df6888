#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "launch/identity.hpp"
#include "launch/launcher.hpp"
#include "launch/node_records.hpp"
#include "launch/settings.hpp"

namespace headway::launch {

/// The job that this process is a member of: its place in it, the secret that its processes share,
/// and one record of each process, which is looked up only once a node.
/// Threads:  `record_of` and `abort` any thread; the rest one.
/// Progress: every call has a deadline (HEADWAY_START_TIMEOUT) and names what it waited for.
/// Errors:   `bad_input` if the launcher violates its protocol, `peer_lost` if its connection ends.
class job {
 public:
  /// Finds the launcher from the environment: HEADWAY_RENDEZVOUS → a rendezvous, in any case;
  /// PMI_FD or PMI_PORT → PMI-1, PMIX_SERVER_URI… → PMIx, else a single process. Writes one line to
  /// the log if the environment is that of a launcher whose protocol is unknown here. Collective if
  /// the processes have to agree on a secret.
  [[nodiscard]] static base::result<std::unique_ptr<job>> join(const settings& how);
  /// The same with a given launcher.
  [[nodiscard]] static base::result<std::unique_ptr<job>> join(std::unique_ptr<launcher> found);

  [[nodiscard]] const identity& who() const noexcept { return launcher_->who(); }
  [[nodiscard]] const job_secret& secret() const noexcept { return secret_; }
  /// What this job contributes to the key that its processes share with those of another job, which
  /// is told it: derived from the secret, the same in all processes. `other`: that job's number.
  [[nodiscard]] job_secret contribution_for(std::uint64_t other) const;

  /// Bytes that are the same for all processes of a node: one of them calls `make`, and the others
  /// wait for it, up to a second. Empty: this process has to make its own.
  [[nodiscard]] std::vector<std::byte> once_a_node(
      const std::function<std::vector<std::byte>()>& make);
  /// Publishes this process's record. Collective, once: returns when every process has published
  /// its own.
  [[nodiscard]] base::result<> publish(std::span<const std::byte> record);
  /// The record that `rank` published.
  [[nodiscard]] base::result<std::vector<std::byte>> record_of(int rank);
  /// How many values were requested from the launcher.
  [[nodiscard]] std::uint64_t look_ups() const noexcept {
    return look_ups_.load(std::memory_order_relaxed);  // a statistic, carries no data
  }
  /// Collective: returns when every process has called it. After `publish`.
  [[nodiscard]] base::result<> barrier();
  /// As `launcher::spawn`. Any thread.
  [[nodiscard]] base::result<pid_t> spawn(const spawn_request& what);
  /// Ends the whole job with this exit code. Returns only if the launcher cannot be reached.
  void abort(int exit_code, std::string_view why) noexcept { launcher_->abort(exit_code, why); }
  /// Leaves the job; nothing may be called afterwards. A process that ends without it counts as
  /// failed.
  [[nodiscard]] base::result<> finish() { return launcher_->finish(); }

 private:
  explicit job(std::unique_ptr<launcher> found) : launcher_(std::move(found)) {}
  [[nodiscard]] base::result<> agree_on_secret();
  [[nodiscard]] base::result<> trade(std::span<const std::byte> value);
  [[nodiscard]] base::result<std::vector<std::byte>> look_up(int rank);

  base::mutex lock_;  // cold: one request to the launcher at a time; `abort` needs no lock
  const std::unique_ptr<launcher> launcher_;
  job_secret secret_{};
  std::optional<node_records> on_node_;  ///< of a job of several processes
  std::vector<std::byte> own_;           ///< from `publish` on
  std::atomic<std::uint64_t> look_ups_{0};
};

/// The key of two jobs, from what both contribute: first that of the job with the lower number.
[[nodiscard]] job_secret pair_key(const job_secret& lower, const job_secret& higher);

}  // namespace headway::launch
