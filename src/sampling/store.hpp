#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "sampling/record.hpp"
#include "sampling/settings.hpp"

namespace headway::sampling {

/// Profiles on disk: a file for each pair of hosts and rail in one folder. The few that say more
/// than one connection have a mark beside them, an empty file of the same name in the folder
/// `several`: they are wanted before the peers are known, and then no other has to be read.
///
/// Threads:  any, also of several processes: a file is written beside its place and moved there, so
///           that a reader sees the old one or the new one.
/// Progress: reads and writes files: not for a polling round.
/// Errors:   a profile that is damaged, too old, or of other hardware is as good as none: said in
///           one line, and to be measured again.
class store {
 public:
  explicit store(settings how) : how_(std::move(how)) {}

  [[nodiscard]] std::optional<profile> find(const profile_key& key, std::string_view hardware,
                                            std::uint64_t now_s) const;
  /// Of all hosts to which more than one connection was found to pay on this rail.
  [[nodiscard]] std::vector<record> several(std::string_view here, std::string_view rail,
                                            std::string_view hardware, std::uint64_t now_s) const;
  /// Errors:   `unsupported`: the settings name no folder.
  [[nodiscard]] base::result<> save(const record& r) const;
  [[nodiscard]] std::filesystem::path file_of(const profile_key& key) const;

 private:
  [[nodiscard]] std::optional<record> read(const std::filesystem::path& file,
                                           std::string_view hardware, std::uint64_t now_s) const;
  [[nodiscard]] std::filesystem::path mark_of(const std::filesystem::path& file) const {
    return how_.folder / "several" / file.filename();
  }

  settings how_;
};

}  // namespace headway::sampling
