#include "report/site_names.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

namespace headway::report {
namespace {

constexpr int wait_ms_max = 10'000;  // for output of addr2line

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// What the program prints on standard output; empty: it cannot be started or takes too long.
std::string output_of(std::vector<std::string> words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  char* no_environment[] = {nullptr};
  const int fault = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(),
                                 static_cast<char**>(no_environment));
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  bool whole = false;
  while (fault == 0) {
    pollfd reader{.fd = ends[0], .events = POLLIN, .revents = 0};
    char block[4096];
    if (poll(&reader, 1, wait_ms_max) != 1) break;
    const auto got = read(ends[0], block, sizeof block);
    whole = got == 0;
    if (got <= 0) break;
    text.append(block, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  if (fault != 0) return {};
  if (!whole) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  return whole ? text : std::string();
}

/// Function and source line, in two lines for each address of `object`.
std::vector<std::string> lines_of(const std::string& object, const std::vector<call_site>& sites) {
  std::vector<std::string> words = {"addr2line", "-f", "-C", "-e", object};
  for (const auto& site : sites) words.push_back(fmt::format("{:#x}", site.offset));
  std::istringstream text(output_of(std::move(words)));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  if (lines.size() != 2 * sites.size()) lines.assign(2 * sites.size(), "??");
  return lines;
}

std::string name_of(const call_site& site, const std::string& function, std::string line) {
  const auto object = file_name(site.object);
  line = line.substr(0, line.find(" (discriminator"));
  const bool has_line = !line.starts_with("??") && !line.ends_with(":?") && !line.ends_with(":0");
  if (has_line && function != "??") return fmt::format("{} at {}", function, file_name(line));
  if (function != "??") return fmt::format("{}, {}+{:#x}", function, object, site.offset);
  if (!site.symbol.empty()) return fmt::format("{}, {}+{:#x}", site.symbol, object, site.offset);
  return fmt::format("{}+{:#x}", object.empty() ? "?" : object, site.offset);
}

}  // namespace

std::vector<std::string> names_of(const std::vector<call_site>& sites) {
  std::map<std::string, std::vector<std::size_t>> by_object;
  for (std::size_t i = 0; i < sites.size(); ++i) by_object[sites[i].object].push_back(i);
  std::vector<std::string> names(sites.size());
  for (const auto& [object, indices] : by_object) {
    std::vector<call_site> here;
    for (const auto i : indices) here.push_back(sites[i]);
    const auto lines = lines_of(object, here);
    for (std::size_t i = 0; i < indices.size(); ++i)
      names[indices[i]] = name_of(here[i], lines[2 * i], lines[2 * i + 1]);
  }
  return names;
}

}  // namespace headway::report
