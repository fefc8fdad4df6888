#pragma once

#include <map>
#include <memory>
#include <string>

#include "launch/card.hpp"
#include "launch/environment.hpp"
#include "launch/job.hpp"
#include "launch/pmi_exchange.hpp"
#include "launch/pmi_wire.hpp"

namespace headway::launch {

/// A job whose launcher speaks PMI-1: ours, MPICH's Hydra, Slurm's pmi2 plugin, Intel's.
/// Threads:  as `job`: `abort` any thread, the rest one.
/// Progress: see pmi_wire. Our own mpiexec costs one round trip to join, one to exchange, one to
///           finish; other servers five to join and, to exchange, one per KB of our card and one
///           for the barrier.
/// Errors:   see pmi_wire.
class pmi_job final : public job {
 public:
  /// Over the inherited descriptor PMI_FD.
  [[nodiscard]] static base::result<std::unique_ptr<job>> inherited(const environment& told,
                                                                    int descriptor);
  /// Over TCP to PMI_PORT ("host:port"), where PMI_ID says which process we are.
  [[nodiscard]] static base::result<std::unique_ptr<job>> dialled(const environment& told);

  explicit pmi_job(int descriptor) : wire_(descriptor) {}

  [[nodiscard]] const identity& who() const noexcept override { return who_; }
  [[nodiscard]] const job_secret& secret() const noexcept override { return secret_; }
  [[nodiscard]] base::result<> publish(std::string_view name,
                                       std::span<const std::byte> value) override;
  [[nodiscard]] base::result<> exchange() override;
  [[nodiscard]] base::result<std::vector<std::byte>> lookup(int rank,
                                                            std::string_view name) override;
  void abort(int exit_code, std::string_view why) noexcept override;
  [[nodiscard]] base::result<> finish() override;

 private:
  [[nodiscard]] base::result<> introduce(const environment& told);
  [[nodiscard]] base::result<> set_place(std::optional<std::int64_t> rank,
                                         std::optional<std::int64_t> size);
  [[nodiscard]] base::result<> join(bool ours);
  [[nodiscard]] base::result<> join_ours(const pmi_line& welcome);
  [[nodiscard]] base::result<> join_any();
  [[nodiscard]] base::result<> agree_on_secret();
  [[nodiscard]] base::result<const card*> card_of(int rank);

  pmi_wire wire_;
  identity who_;
  job_secret secret_{};
  bool secret_known_ = false;
  std::unique_ptr<pmi_exchange> exchange_;
  card own_;
  std::map<int, card> cards_;  ///< of the last exchange, as far as they were asked for
};

/// A server's name for the job as a part of file names: letters, digits, '-', '_', '.', at most 64
/// characters; a name that had to be changed ends in a hash of the original.
[[nodiscard]] std::string file_safe(std::string_view name);

}  // namespace headway::launch
