#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace headway::base {

// Small files that are read and written as a whole: profiles, tables.

/// A host's or an interface's name as part of a file's name: characters other than letters, digits,
/// '.' and '-' are written as numbers, so that two names never share a file and none leaves its
/// folder.
[[nodiscard]] std::string in_file_name(std::string_view text);

/// At most `bytes_max` + 1 bytes, so that a file that is too long can be told. Nothing: there is no
/// such file, or it cannot be read.
[[nodiscard]] std::optional<std::string> read_whole_file(const std::filesystem::path& path,
                                                         std::size_t bytes_max);

/// The same of a file that decides what this process does, with `bad_input` if another user could
/// have written it: the file and its folder must belong to this user or to root, and no other
/// user may write them. Nothing: there is no such file.
[[nodiscard]] result<std::optional<std::string>> read_trusted_file(
    const std::filesystem::path& path, std::size_t bytes_max);

/// Writes all of it where an open file stands.
[[nodiscard]] result<> write_all(int file, std::string_view text);

/// Writes beside the file and renames, so that a reader sees the old one or the new one; only this
/// user may read and write it. Creates its folder, which others cannot write, if there is none.
[[nodiscard]] result<> replace_file(const std::filesystem::path& path, std::string_view text);

}  // namespace headway::base
