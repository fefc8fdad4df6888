#pragma once

#include <memory>
#include <vector>

#include "launch/card.hpp"
#include "launch/greeting.hpp"
#include "launch/job.hpp"
#include "launch/meeting_socket.hpp"
#include "launch/rendezvous_settings.hpp"

namespace headway::launch {

/// A job of processes that were started separately and know one address and one secret. Whoever
/// comes first, and may listen at that address, is the host and rank 0; the others are numbered as
/// they come.
/// Threads:  as `job`.
/// Progress: `meet` waits until all have come, `exchange` until all are there, both with
///           HEADWAY_START_TIMEOUT. A host or guest that dies while others still wait is replaced
///           by the next that comes.
/// Errors:   `refused`: the other side has another secret; `timed_out` says how many have come.
class rendezvous_job final : public job {
 public:
  [[nodiscard]] static base::result<std::unique_ptr<job>> meet(const rendezvous_settings& where);

  [[nodiscard]] const identity& who() const noexcept override { return who_; }
  [[nodiscard]] const job_secret& secret() const noexcept override { return secret_; }
  [[nodiscard]] base::result<> publish(std::string_view name,
                                       std::span<const std::byte> value) override;
  [[nodiscard]] base::result<> exchange() override;
  [[nodiscard]] base::result<std::vector<std::byte>> lookup(int rank,
                                                            std::string_view name) override;
  /// There is nobody to tell: the others lose the connection to this process.
  void abort(int, std::string_view) noexcept override {}
  [[nodiscard]] base::result<> finish() override;

 private:
  rendezvous_job() = default;
  void begin(const meeting_key& key, std::span<const std::byte> nonce, int rank, int size);
  [[nodiscard]] base::result<> collect(std::uint64_t deadline_ns,
                                       std::vector<std::vector<std::byte>>& packed);

  identity who_;
  job_secret secret_{};
  card own_;
  std::vector<card> cards_;             // by rank, after an exchange
  std::vector<meeting_socket> others_;  // the host's: of rank 1, 2, …; a guest's: the host
};

}  // namespace headway::launch
