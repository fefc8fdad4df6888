#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace headway::mpiexec {

/// One program of the job: what stands between two ':' of the command line.
struct program_block {
  int rank_count = 1;
  std::vector<std::string> command;  ///< program and arguments; never empty
  std::vector<std::pair<std::string, std::string>> environment;
  std::string directory;  ///< empty: where mpiexec was started
};

struct options {
  std::vector<program_block> blocks;
  std::vector<std::pair<std::string, std::string>> environment;  ///< for all blocks
  bool label = false;
  bool keep_going = false;
  std::optional<double> timeout_s;
  bool help = false;     ///< the other options are ignored
  bool version = false;  ///< the same

  [[nodiscard]] int rank_count() const noexcept;
};

inline constexpr int rank_count_max = 65'536;

/// Parses the command line. `arguments` begins after the name of mpiexec itself.
/// Errors:   `bad_input` with one line that names the wrong word.
[[nodiscard]] base::result<options> parse_options(const std::vector<std::string>& arguments);

[[nodiscard]] const char* help_text() noexcept;

}  // namespace headway::mpiexec
