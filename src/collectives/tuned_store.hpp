#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "collectives/tuned_table.hpp"

namespace headway::collectives {

/// The table of this host on disk: `collectives/HOST` in the cache folder.
///
/// Threads:  any, also of several processes: a file is written under another name and then renamed,
///           so that a reader sees the old one or the new one.
/// Progress: reads and writes files: not for a polling round.
/// Errors:   a table that cannot be trusted or used is refused as a whole, with the reason.
class tuned_store {
 public:
  /// `cache` may be empty: then nothing is found or kept.
  tuned_store(const std::filesystem::path& cache, std::string_view host, std::string version,
              std::string machine);

  /// Nothing: there is no table.
  /// Errors:   `bad_input`: it is damaged, of another version or another machine, or another user
  ///           could have written it.
  [[nodiscard]] base::result<std::optional<tuned_table>> find() const;
  /// Puts a shape into the table that `find` finds, or into a new one.
  /// Errors:   `unsupported`: there is no cache folder.
  [[nodiscard]] base::result<> save(tuned_shape made) const;
  /// Empty: there is no cache folder.
  [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }

 private:
  std::filesystem::path file_;
  std::string version_, machine_;
};

}  // namespace headway::collectives
