// The user's settings; settings.hpp has them as values.
#include <cstdlib>

#include "base/tunable.hpp"
#include "sampling/settings.hpp"

namespace headway::sampling {
namespace {

base::number_tunable profile_days_max{
    "HEADWAY_PROFILE_DAYS",
    "days",
    settings().days_max,
    0,
    36'500,
    "age from which a rail's profile is measured again: cables and switches may have been "
    "changed since"};

base::text_tunable cache_wanted{
    "HEADWAY_CACHE", "", "a folder",
    "folder of what can be made again: profiles of rails, tables of headway tune; "
    "empty: $XDG_CACHE_HOME/headway or ~/.cache/headway"};

/// An absolute path in a variable of the desktop, which is not one of our settings.
std::filesystem::path path_in(const char* name) {
  const char* text = std::getenv(name);
  const std::filesystem::path path(text ? text : "");
  return path.is_absolute() ? path : std::filesystem::path();
}

}  // namespace

std::filesystem::path cache_folder() {
  if (!cache_wanted.get().empty()) return cache_wanted.get();
  if (const auto cache = path_in("XDG_CACHE_HOME"); !cache.empty()) return cache / "headway";
  if (const auto home = path_in("HOME"); !home.empty()) return home / ".cache/headway";
  return {};
}

settings settings::from_environment() {
  const auto folder = cache_folder();
  return {.folder = folder.empty() ? folder : folder / "profiles",
          .days_max = static_cast<int>(profile_days_max.get())};
}

}  // namespace headway::sampling
