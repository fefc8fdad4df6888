#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "tools/mpiexec/hosts.hpp"
#include "tools/mpiexec/placement.hpp"
#include "tools/mpiexec/rank_set.hpp"

namespace headway::mpiexec {

using variables = std::vector<std::pair<std::string, std::string>>;

/// One program of the job: what stands between two ':' of the command line.
struct program_block {
  std::optional<int> rank_count;     ///< as -n says; set by `options::settle_rank_counts`
  std::vector<std::string> command;  ///< program and arguments; never empty
  variables environment;
  std::string directory;  ///< empty: where mpiexec was started
};

struct options {
  std::vector<program_block> blocks;
  variables environment;              ///< for all blocks
  std::vector<std::string> exported;  ///< variables to pass on as they are
  int ranks_per_host = 0;             ///< 0: not said
  placement_wish placement;
  std::vector<host> hosts;                    ///< empty: this machine
  rank_set input = rank_set::one(0);          ///< ranks that get the standard input
  std::optional<rank_set> debugged;           ///< ranks that run in a debugger
  std::string output_pattern, error_pattern;  ///< files for the output; "%r" is the rank
  bool label = false;
  bool keep_going = false;
  bool report_bindings = false;
  bool verbose = false;
  std::optional<double> timeout_s;
  std::vector<std::string> for_hydra, for_prterun;  ///< options for these launchers alone
  std::vector<std::string> notes;                   ///< lines to print: what has no effect
  bool help = false;                                ///< the other options are ignored
  bool version = false;                             ///< the same

  [[nodiscard]] int rank_count() const noexcept;
  /// Sets the number of ranks of each block that has none: that of -ppn, or that of the
  /// `ppr:N:LEVEL` of the machine, else one.
  void settle_rank_counts(const machine_places& machine);
};

inline constexpr int rank_count_max = 65'536;

/// Parses the command line. `arguments` begins after the name of mpiexec itself. Reads the files of
/// -configfile and -hostfile.
/// Errors:   `bad_input` with one line that names the wrong word.
[[nodiscard]] base::result<options> parse_options(std::vector<std::string> arguments);

[[nodiscard]] const char* help_text() noexcept;

}  // namespace headway::mpiexec
