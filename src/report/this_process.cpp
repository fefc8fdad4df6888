#include "report/this_process.hpp"

#include <unistd.h>

#include <array>
#include <climits>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace headway::report {
namespace {

std::string first_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// "0-3" of the line "Cpus_allowed_list:	0-3".
std::string processors_of(const std::filesystem::path& task) {
  constexpr std::string_view label = "Cpus_allowed_list:\t";
  std::ifstream in(task / "status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(label)) return line.substr(label.size());
  return {};
}

}  // namespace

void describe_this_process(part& of) {
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) of.host = host.data();
  of.pid = static_cast<std::uint64_t>(getpid());
  std::error_code fault;
  of.program = std::filesystem::read_symlink("/proc/self/exe", fault).string();
  of.processors = processors_of("/proc/self");
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", fault))
    of.threads.push_back(
        {.name = first_line(task.path() / "comm"), .processors = processors_of(task.path())});
}

}  // namespace headway::report
