#include "topology/processors.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <vector>

namespace headway::topology {
namespace {

/// The first few kilobytes of a file of /proc or /sys, or nothing.
std::optional<std::string> contents(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::string text(4096, '\0');
  const auto got = read(file, text.data(), text.size());
  close(file);
  if (got < 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(got));
  return text;
}

std::optional<double> parse_number(std::string_view text) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return static_cast<double>(value);
}

std::optional<double> number_in(const std::string& path) {
  const auto text = contents(path);
  return text ? parse_number(*text) : std::nullopt;
}

std::optional<double> quota_v1(const std::string& folder) {
  const auto quota = number_in(folder + "/cpu.cfs_quota_us");
  const auto period = number_in(folder + "/cpu.cfs_period_us");
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

std::optional<double> quota_v2(const std::string& folder) {
  const auto line = contents(folder + "/cpu.max");
  return line ? parse_cpu_max(*line) : std::nullopt;
}

/// The smallest quota from `path` up to the hierarchy's root. In a container the path may name
/// folders that are not mounted here; then the root of the mount is our group.
template <class Quota>
std::optional<double> smallest(const std::string& mount, std::string path, Quota quota_of) {
  std::optional<double> least;
  for (;;) {
    const auto quota = quota_of(mount + path);
    if (quota && (!least || *quota < *least)) least = quota;
    if (path.empty()) return least;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

bool names_cpu_controller(std::string_view controllers) {
  while (!controllers.empty()) {
    const auto comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == "cpu") return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

/// One line of /proc/self/cgroup: "id:controllers:path"; v2 has id 0 and no controllers.
std::optional<double> quota_of_line(std::string_view line) {
  const auto first = line.find(':');
  if (first == std::string_view::npos) return std::nullopt;
  const auto second = line.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto controllers = line.substr(first + 1, second - first - 1);
  std::string path(line.substr(second + 1));
  if (path == "/") path.clear();
  if (controllers.empty()) return smallest("/sys/fs/cgroup", path, quota_v2);
  if (!names_cpu_controller(controllers)) return std::nullopt;
  return smallest("/sys/fs/cgroup/" + std::string(controllers), path, quota_v1);
}

}  // namespace

std::optional<double> parse_cpu_max(std::string_view line) {
  const auto space = line.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const auto quota = parse_number(line.substr(0, space));  // "max" is no number: no limit
  const auto period = parse_number(line.substr(space + 1));
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

std::optional<double> group_quota() {
  const auto groups = contents("/proc/self/cgroup");
  if (!groups) return std::nullopt;
  std::optional<double> least;
  for (std::string_view rest = *groups; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto quota = quota_of_line(rest.substr(0, end));
    if (quota && (!least || *quota < *least)) least = quota;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return least;
}

std::optional<int> parse_runnable(std::string_view loadavg) {
  for (int field = 0; field < 3; ++field) {
    const auto space = loadavg.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    loadavg.remove_prefix(space + 1);
  }
  const auto slash = loadavg.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto runnable = parse_number(loadavg.substr(0, slash));
  if (!runnable) return std::nullopt;
  return static_cast<int>(*runnable);
}

namespace {

/// The processors that a process may use, ascending; none if the kernel does not report them.
std::vector<int> processors_of(pid_t process) {
  std::vector<int> all;
  // The fixed set holds 1024 processors; larger machines answer EINVAL until the set is large
  // enough.
  for (std::size_t count = CPU_SETSIZE; count <= 1u << 20; count *= 2) {
    const std::unique_ptr<cpu_set_t, decltype([](cpu_set_t* s) { CPU_FREE(s); })> set(
        CPU_ALLOC(count));
    if (!set) return all;
    const auto bytes = CPU_ALLOC_SIZE(count);
    if (sched_getaffinity(process, bytes, set.get()) != 0) continue;
    for (std::size_t p = 0; p < count; ++p)
      if (CPU_ISSET_S(p, bytes, set.get())) all.push_back(static_cast<int>(p));
    return all;
  }
  return all;
}

}  // namespace

int allowed_processors() noexcept {
  return std::max(1, static_cast<int>(processors_of(getpid()).size()));
}

std::vector<int> bound_processors() {
  std::vector<int> all;
  DIR* threads = opendir("/proc/self/task");
  if (!threads) return processors_of(getpid());
  while (const dirent* entry = readdir(threads)) {
    const auto thread = parse_number(entry->d_name);  // not "." and ".."
    if (!thread) continue;
    const auto own = processors_of(static_cast<pid_t>(*thread));
    std::vector<int> both;
    std::ranges::set_union(all, own, std::back_inserter(both));
    all = std::move(both);
  }
  closedir(threads);
  return all;
}

std::optional<int> confined_together() {
  const auto own = processors_of(getpid());
  if (own.empty() || processors_of(getppid()) != own) return std::nullopt;
  return static_cast<int>(own.size());
}

}  // namespace headway::topology
