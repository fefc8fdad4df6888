#include "tools/mpiexec/processor_use.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>

namespace headway::mpiexec {
namespace {

/// Calls `each(number)` for the threads of the process and of those that it has started.
template <class Each>
void each_thread(pid_t process, const Each& each) {
  std::error_code error;  // the process may end meanwhile
  std::filesystem::directory_iterator at(fmt::format("/proc/{}/task", process), error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const auto name = at->path().filename().string();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    each(thread);
    std::ifstream children(at->path() / "children");
    for (pid_t child = 0; children >> child;) each_thread(child, each);
  }
}

}  // namespace

std::optional<processor_use> use_of(pid_t process) {
  std::optional<processor_use> all;
  each_thread(process, [&](pid_t thread) {
    std::ifstream file(fmt::format("/proc/{}/schedstat", thread));
    std::uint64_t ran_ns = 0, waited_ns = 0;
    if (!(file >> ran_ns >> waited_ns)) return;  // it has ended
    if (!all) all.emplace();
    all->ran_ns += ran_ns;
    all->waited_ns += waited_ns;
  });
  return all;
}

void change_processors(pid_t process, const cpu_set_t& from, const cpu_set_t& to) {
  each_thread(process, [&](pid_t thread) {
    cpu_set_t now;
    if (sched_getaffinity(thread, sizeof now, &now) == 0 && CPU_EQUAL(&now, &from))
      sched_setaffinity(thread, sizeof to, &to);
  });
}

}  // namespace headway::mpiexec
