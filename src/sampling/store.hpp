#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/result.hpp"
#include "sampling/record.hpp"

namespace headway::sampling {

/// Profiles on disk: a file for each pair of hosts and rail in one folder.
///
/// Threads:  any, also of several processes: a file is written beside its place and moved there, so
///           that a reader sees the old one or the new one.
/// Progress: reads and writes files: not for a polling round.
/// Errors:   a profile that is damaged, too old, or of other hardware is as good as none: said in
///           one line, and to be measured again.
class store {
 public:
  explicit store(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// $HEADWAY_CACHE, or $XDG_CACHE_HOME/headway, or ~/.cache/headway.
  /// Errors:   `unsupported`: none of them is set.
  [[nodiscard]] static base::result<store> of_user();

  [[nodiscard]] std::optional<profile> find(const profile_key& key, std::string_view hardware,
                                            std::uint64_t now_s) const;
  [[nodiscard]] base::result<> save(const record& r) const;
  [[nodiscard]] std::filesystem::path file_of(const profile_key& key) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace headway::sampling
