#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "base/assert.hpp"
#include "base/result.hpp"
#include "sampling/record.hpp"
#include "sampling/settings.hpp"

namespace headway::sampling {

/// Profiles on disk: in one folder, a file for each pair of hosts and rail. Those few with more
/// than one connection are marked by an empty file of the same name in the folder `several`: they
/// are needed before the peers are known, and then no other file has to be read.
///
/// Threads:  any, also of several processes: a file is written under another name and then renamed,
///           so that a reader sees the old one or the new one.
/// Progress: reads and writes files: not for a polling round.
/// Errors:   a profile that is damaged, too old, or of other hardware is ignored: one line in the
///           log, and it has to be measured again.
class store {
 public:
  explicit store(settings how) : how_(std::move(how)) { HEADWAY_ASSERT(how_.days_max >= 0); }

  [[nodiscard]] std::optional<profile> find(const profile_key& key, std::string_view hardware,
                                            std::uint64_t now_s) const;
  /// Of all hosts for which more than one connection on this rail pays.
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
