#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headway::mpiexec {

/// What an option of the command line means. Options of other launchers with the same meaning share
/// an entry.
enum class option_id : std::uint8_t {
  rank_count,
  ranks_per_host,
  one_per_host,
  environment,
  environment_pair,
  environment_for_all,
  exported,
  directory,
  label,
  output_style,
  output_file_name,
  output_pattern,
  error_pattern,
  input,
  timeout,
  report,
  keep_going,
  verbose,
  debugger,
  config_file,
  hosts,
  host_file,
  bind_to,
  map_by,
  ranks_per_socket,
  bind_to_named,  ///< --bind-to-core: the level is in the option's name
  map_by_named,   ///< --bysocket, likewise
  report_bindings,
  display,  ///< Open MPI's --display: what is reported, in a list
  version,
  help,
  nothing,          ///< says what is so anyway
  components,       ///< --mca: two values about Open MPI's inside
  for_hydra,        ///< how Hydra reaches other machines; has no effect on this one
  for_hydra_value,  ///< the same, with a value
  for_prterun,      ///< the same for Open MPI's launcher
  instead,          ///< not understood; the row says what to write
};

/// One option: its spellings without the dashes, separated by blanks, the usual one first.
struct option_row {
  std::string_view spellings;
  option_id id;
  const char* instead = nullptr;  ///< what to write, for option_id::instead
};

/// The row of "-np" or "--np"; null: there is no such option.
[[nodiscard]] const option_row* find_option(std::string_view text) noexcept;

/// The option that a misspelt one probably stands for, with its dashes; empty: none is near.
[[nodiscard]] std::string nearest_option(std::string_view text);

}  // namespace headway::mpiexec
