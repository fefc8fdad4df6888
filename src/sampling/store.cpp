#include "sampling/store.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "base/whole_file.hpp"
#include "sampling/connections.hpp"

namespace headway::sampling {
namespace {

using base::in_file_name;

constexpr std::uint64_t day_s = 24 * 60 * 60;
constexpr std::size_t file_bytes_max = 64 * 1024;

}  // namespace

std::filesystem::path store::file_of(const profile_key& key) const {
  return how_.folder / fmt::format("{}_{}_{}", in_file_name(key.here), in_file_name(key.there),
                                   in_file_name(key.rail));
}

/// The profile, if it can be used; otherwise the reason is logged.
std::optional<record> store::read(const std::filesystem::path& file, std::string_view hardware,
                                  std::uint64_t now_s) const {
  if (how_.folder.empty()) return std::nullopt;
  const auto text = base::read_whole_file(file, file_bytes_max);
  if (!text) return std::nullopt;
  const auto ignored = [&](std::string_view why) {
    base::log(base::severity::warning, "profile {} is not used: {}", file.string(), why);
    return std::nullopt;
  };
  auto r = record_of(*text);
  if (!r) return ignored(r.error().text);
  if (file_of(r->key) != file) return ignored("it is of another rail");
  if (r->hardware != hardware)
    return ignored(fmt::format("it is of {}, the rail has {} now", r->hardware, hardware));
  if (r->measured_at > now_s + day_s) return ignored("it is from the future");
  const auto days = now_s > r->measured_at ? (now_s - r->measured_at) / day_s : 0;
  if (days > static_cast<std::uint64_t>(how_.days_max))
    return ignored(fmt::format("it is {} days old", days));
  return *std::move(r);
}

std::optional<profile> store::find(const profile_key& key, std::string_view hardware,
                                   std::uint64_t now_s) const {
  const auto r = read(file_of(key), hardware, now_s);
  return r ? std::optional(r->found) : std::nullopt;
}

std::vector<record> store::several(std::string_view here, std::string_view rail,
                                   std::string_view hardware, std::uint64_t now_s) const {
  const auto begin = in_file_name(here) + "_";  // encoded names contain no '_'
  const auto end = "_" + in_file_name(rail);
  std::vector<record> found;
  if (how_.folder.empty()) return found;
  std::error_code fault;
  std::filesystem::directory_iterator marks(how_.folder / "several", fault);
  for (; !fault && marks != std::filesystem::directory_iterator(); marks.increment(fault)) {
    const auto name = marks->path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(end)) continue;
    auto r = read(how_.folder / name, hardware, now_s);
    if (r && r->found.connections > 1) found.push_back(*std::move(r));
  }
  return found;
}

base::result<> store::save(const record& r) const {
  HEADWAY_ASSERT(r.found.connections >= 1 && r.found.connections <= connections_max);
  if (how_.folder.empty())
    return base::failed(base::fault_kind::unsupported,
                        "no folder for profiles: HEADWAY_CACHE, XDG_CACHE_HOME and HOME are not "
                        "set");
  const auto path = file_of(r.key);
  if (auto done = base::replace_file(path, text_of(r)); !done) return done;
  std::error_code error;
  const auto mark = mark_of(path);
  if (r.found.connections == 1) {
    std::filesystem::remove(mark, error);
    return {};
  }
  std::filesystem::create_directory(mark.parent_path(), error);
  if (!std::ofstream(mark)) return base::failed_errno("create " + mark.string(), errno);
  return {};
}

}  // namespace headway::sampling
