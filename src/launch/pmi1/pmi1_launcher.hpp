#pragma once

#include <memory>
#include <optional>

#include "launch/environment.hpp"
#include "launch/launcher.hpp"
#include "launch/pmi1/pmi_values.hpp"
#include "launch/pmi1/pmi_wire.hpp"
#include "launch/settings.hpp"

namespace headway::launch {

/// A launcher that speaks PMI-1: ours, MPICH's Hydra, Slurm's pmi2 plugin, Intel's.
/// Threads:  as `launcher`.
/// Progress: see pmi_wire. Our own mpiexec needs one round trip to join, other servers five; an
///           exchange one for each KB of our value and one for the barrier; a value of another
///           process one for each KB; the end one.
/// Errors:   see pmi_wire.
/// Source:   the PMI-1 wire protocol of MPICH; tests/unit/launch/fake_server.cpp has its dialects.
class pmi1_launcher final : public launcher {
 public:
  /// Over the inherited descriptor PMI_FD.
  [[nodiscard]] static base::result<std::unique_ptr<launcher>> inherited(const environment& told,
                                                                         int descriptor,
                                                                         const settings& how);
  /// Over TCP to PMI_PORT ("host:port"), where PMI_ID identifies this process.
  [[nodiscard]] static base::result<std::unique_ptr<launcher>> dialled(const environment& told,
                                                                       const settings& how);

  pmi1_launcher(int descriptor, const settings& how) : wire_(descriptor, how) {}

  [[nodiscard]] const identity& who() const noexcept override { return who_; }
  [[nodiscard]] std::optional<job_secret> secret() const override { return secret_; }
  [[nodiscard]] base::result<> publish(std::span<const std::byte> value) override;
  [[nodiscard]] base::result<> barrier() override;
  [[nodiscard]] base::result<std::vector<std::byte>> value_of(int rank) override;
  /// Our own mpiexec starts the other one; other launchers do not, and this process does.
  [[nodiscard]] base::result<pid_t> spawn(const spawn_request& what) override;
  void abort(int exit_code, std::string_view why) noexcept override;
  [[nodiscard]] base::result<> finish() override;

 private:
  [[nodiscard]] base::result<> introduce(const environment& told);
  [[nodiscard]] base::result<> set_place(std::optional<std::int64_t> rank,
                                         std::optional<std::int64_t> size);
  [[nodiscard]] base::result<> join(bool ours);
  [[nodiscard]] base::result<> join_ours(const pmi_line& welcome);
  [[nodiscard]] base::result<> join_any();
  void use_space(std::string_view name, std::int64_t value_bytes_max);
  [[nodiscard]] std::string missing_ranks();

  pmi_wire wire_;
  identity who_;
  std::optional<job_secret> secret_;
  std::optional<pmi_values> values_;  ///< from `join` on
};

}  // namespace headway::launch
