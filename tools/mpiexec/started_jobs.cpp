#include "tools/mpiexec/started_jobs.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "tools/mpiexec/job_runner.hpp"
#include "tools/mpiexec/spawn.hpp"

namespace headway::mpiexec {

/// They stay zombies until then, so that the numbers of their groups are not given away.
started_jobs::~started_jobs() {
  for (const auto& one : jobs_) {
    if (one.running) kill(-one.is.process, SIGKILL);
    waitpid(one.is.process, nullptr, 0);
    if (one.is.watch >= 0) close(one.is.watch);
  }
}

base::result<started_jobs::started> started_jobs::start(const launch::spawn_request& what) {
  std::vector<std::string> words{"mpiexec"};
  words.insert(words.end(), what.arguments.begin(), what.arguments.end());
  auto entries = inherited_environment(with_.environment);
  entries.insert(entries.end(), what.environment.begin(), what.environment.end());
  const auto arguments = pointers_to(words), environment = pointers_to(entries);
  const auto made = spawn({.path = "/proc/self/exe",
                           .arguments = arguments.data(),
                           .environment = environment.data(),
                           .directory = what.directory.empty() ? nullptr : what.directory.c_str(),
                           .input = with_.input,
                           .signal_mask = *with_.signal_mask,
                           .ignored_signals = with_.ignored_signals});
  if (made.pid < 0)
    return base::failed(base::fault_kind::system,
                        fmt::format("{}: {}", made.step, strerror(made.error_number)));
  const auto watch = static_cast<int>(syscall(SYS_pidfd_open, made.pid, 0));
  jobs_.push_back({.is = {made.pid, watch}});
  return jobs_.back().is;
}

void started_jobs::look() noexcept {
  for (auto& one : jobs_) {
    siginfo_t found{};
    if (!one.running ||
        waitid(P_PID, static_cast<id_t>(one.is.process), &found, WEXITED | WNOWAIT | WNOHANG) !=
            0 ||
        found.si_pid == 0)
      continue;
    one.running = false;
    const int base = found.si_code == CLD_EXITED ? 0 : exit_signal_base;
    if (exit_code_ == 0) exit_code_ = base + found.si_status;
  }
}

bool started_jobs::any_running() const noexcept {
  return std::ranges::any_of(jobs_, &job::running);
}

void started_jobs::send_signal(int signal_number) noexcept {
  for (const auto& one : jobs_) kill(-one.is.process, signal_number);
}

}  // namespace headway::mpiexec
