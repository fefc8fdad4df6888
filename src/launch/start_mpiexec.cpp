#include "launch/start_mpiexec.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"

namespace headway::launch {
namespace {

namespace fs = std::filesystem;

/// Whose ends are to be waited for, so that they do not stay zombies.
struct started_processes {
  base::mutex lock;
  std::vector<pid_t> running HEADWAY_GUARDED_BY(lock);

  static started_processes& all() {
    static auto* const made = new started_processes;
    return *made;
  }
  void add(pid_t process) {
    const base::lock_guard held(lock);
    std::erase_if(running, [](pid_t one) { return waitpid(one, nullptr, WNOHANG) != 0; });
    running.push_back(process);
  }
};

/// Empty: unknown.
fs::path own_file() {
  Dl_info about{};
  if (dladdr(reinterpret_cast<const void*>(&start_mpiexec), &about) == 0 || !about.dli_fname)
    return {};
  std::error_code error;
  return fs::canonical(about.dli_fname, error);
}

base::result<std::string> find_mpiexec() {
  const auto file = own_file();
  // lib/libmpi_abi.so.1, lib/x86_64-linux-gnu/libmpi_abi.so.1, bin/program
  auto folder = file.parent_path();
  for (int level = 0; level < 3 && folder.has_relative_path(); ++level) {
    folder = folder.parent_path();
    auto found = folder / "bin" / "mpiexec";
    if (access(found.c_str(), X_OK) == 0) return found.string();
  }
  return base::failed(base::fault_kind::unsupported,
                      fmt::format("there is no bin/mpiexec beside {}", file.string()));
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> made;
  for (const auto& text : texts) made.push_back(const_cast<char*>(text.c_str()));
  made.push_back(nullptr);
  return made;
}

}  // namespace

base::result<pid_t> start_mpiexec(const spawn_request& what) {
  const auto path = find_mpiexec();
  if (!path) return std::unexpected(path.error());
  std::vector<std::string> words{*path};
  words.insert(words.end(), what.arguments.begin(), what.arguments.end());
  auto variables = what.environment;
  for (auto entry = environ; *entry != nullptr; ++entry)
    // A rendezvous would be that of this process's job.
    if (!is_of_outer_launcher(*entry) &&
        !std::string_view(*entry).starts_with("HEADWAY_RENDEZVOUS"))
      variables.emplace_back(*entry);
  const auto arguments = pointers_to(words), environment = pointers_to(variables);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (!what.directory.empty())
    posix_spawn_file_actions_addchdir_np(&actions, what.directory.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t process = -1;
  const int error = posix_spawn(&process, path->c_str(), &actions, &attributes, arguments.data(),
                                environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return base::failed_errno("start " + *path, error);
  started_processes::all().add(process);
  return process;
}

}  // namespace headway::launch
