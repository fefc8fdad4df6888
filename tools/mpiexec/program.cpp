#include "tools/mpiexec/program.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

namespace headway::mpiexec {
namespace {

constexpr int cannot_run = 126, not_found = 127;

/// 0 if `path` is a file that may be executed, else why not.
int trouble_with(const std::string& path) {
  struct stat found;
  if (stat(path.c_str(), &found) != 0) return errno;
  if (S_ISDIR(found.st_mode)) return EISDIR;
  return access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

std::string here() {
  std::error_code unknown;
  const auto path = std::filesystem::current_path(unknown);
  return unknown ? "." : path.string();
}

std::vector<std::string> places_of(const std::string& name, const std::string& directory,
                                   std::string_view search_path) {
  const auto base = directory.empty() ? std::string() : directory + "/";
  if (name.starts_with('/')) return {name};
  if (name.find('/') != name.npos) {
    if (directory.empty()) return {name};
    return {base.starts_with('/') ? base + name : here() + "/" + base + name, here() + "/" + name};
  }
  std::vector<std::string> places;
  while (true) {
    const auto colon = search_path.find(':');
    const std::string folder(search_path.substr(0, colon));
    const auto prefix = folder.empty() ? std::string("./") : folder + "/";
    places.push_back((prefix.starts_with('/') || directory.empty() ? "" : base) + prefix + name);
    if (colon == search_path.npos) return places;
    search_path.remove_prefix(colon + 1);
  }
}

}  // namespace

program_place find_program(const std::string& name, const std::string& directory,
                           const std::string& search_path) {
  if (!directory.empty() && access(directory.c_str(), X_OK) != 0)
    return {{}, cannot_run, fmt::format("{}: {}", directory, strerror(errno))};
  int worst = ENOENT;
  for (auto& place : places_of(name, directory, search_path)) {
    const int trouble = trouble_with(place);
    if (trouble == 0) return {std::move(place), 0, {}};
    if (trouble != ENOENT && (trouble != ENOTDIR || worst == ENOENT)) worst = trouble;
  }
  const bool missing = worst == ENOENT || worst == ENOTDIR;
  const bool searched = name.find('/') == name.npos;
  if (missing && searched)
    for (auto& place : places_of("./" + name, directory, {}))
      if (trouble_with(place) == 0) return {std::move(place), 0, {}};
  return {{},
          missing ? not_found : cannot_run,
          missing && searched
              ? fmt::format("{}: not found in PATH, and no program ./{} either", name, name)
              : fmt::format("{}: {}", name, strerror(worst))};
}

std::string find_in_path(const std::string& name, const std::string& search_path) {
  for (auto& place : places_of(name, {}, search_path))
    if (trouble_with(place) == 0) return std::move(place);
  return {};
}

}  // namespace headway::mpiexec
