#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace headway::tool {

/// The folder above bin, of a build or of an installation; both look alike.
[[nodiscard]] std::filesystem::path own_root();

/// This process becomes the Python program at `path` below share/headway, with these words.
/// Errors:   returns the exit status, after one line on standard error that names the subcommand,
///           only when that cannot be started.
int become_shared_program(std::string_view subcommand, std::string_view path,
                          std::vector<std::string> words);

/// The same in a process of its own, whose standard input is `input`. Waits for it.
/// Returns: its exit status; 1, after one line on standard error, if it cannot be started.
int run_shared_program(std::string_view subcommand, std::string_view path,
                       std::vector<std::string> words, std::string_view input);

}  // namespace headway::tool
