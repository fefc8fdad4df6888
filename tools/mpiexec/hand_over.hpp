#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "tools/mpiexec/options.hpp"

namespace headway::mpiexec {

/// A launcher that starts ranks on other machines.
enum class launcher : std::uint8_t { srun, hydra, prterun };

struct found_launcher {
  launcher kind;
  std::string path;
};

/// The launcher for several machines: srun within an allocation of Slurm, else Hydra, else prterun,
/// else srun; what is found along `search_path`.
/// Errors:   `unsupported` when there is none.
[[nodiscard]] base::result<found_launcher> find_launcher(const std::string& search_path,
                                                         bool in_slurm_allocation);

/// The command line by which that launcher starts the job. Variables for all programs are in
/// the environment too, except for prterun, which passes on only what its command line names.
/// Errors:   `unsupported` with the option that it has no equivalent for.
[[nodiscard]] base::result<std::vector<std::string>> command_for(const found_launcher& by,
                                                                 const options& wish);

/// Replaces this process by that launcher.
/// Errors:   returns the exit code, after one line on standard error, when that fails.
[[nodiscard]] int hand_over(const options& wish, const char* const* ambient);

}  // namespace headway::mpiexec
