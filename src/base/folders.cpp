#include "base/folders.hpp"

#include <cstdlib>

#include "base/tunable.hpp"

namespace headway::base {
namespace {

text_tunable cache_wanted{"HEADWAY_CACHE", "", "/var/tmp/headway",
                          "folder of what can be made again, such as profiles of rails; empty: "
                          "$XDG_CACHE_HOME/headway or "
                          "~/.cache/headway"};

/// An absolute path in a variable of the desktop's, which is no setting of ours.
std::filesystem::path path_in(const char* name) {
  const char* text = std::getenv(name);
  const std::filesystem::path path(text ? text : "");
  return path.is_absolute() ? path : std::filesystem::path();
}

}  // namespace

result<std::filesystem::path> cache_folder() {
  if (!cache_wanted.get().empty()) return std::filesystem::path(cache_wanted.get());
  if (const auto cache = path_in("XDG_CACHE_HOME"); !cache.empty()) return cache / "headway";
  if (const auto home = path_in("HOME"); !home.empty()) return home / ".cache/headway";
  return failed(fault_kind::unsupported,
                "no folder for profiles: HEADWAY_CACHE, XDG_CACHE_HOME and HOME are not set");
}

}  // namespace headway::base
