#include "tools/mpiexec/spawn.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace headway::mpiexec {
namespace {

constexpr int exit_not_run = 127;

/// The child's error. The child shares this memory until it executes its program.
struct complaint {
  volatile int error_number = 0;
  const char* volatile step = "";
};

bool put_at(int descriptor, int number) noexcept {
  if (descriptor < 0) return true;
  if (descriptor == number) return fcntl(descriptor, F_SETFD, 0) == 0;
  return dup2(descriptor, number) >= 0;
}

[[noreturn]] void give_up(complaint& left, const char* step) noexcept {
  left.error_number = errno;
  left.step = step;
  _exit(exit_not_run);
}

/// Runs in the child, on the parent's stack: only plain system calls, and no return.
[[noreturn, gnu::noinline]] void become(const child_plan& plan, pid_t parent,
                                        complaint& left) noexcept {
  if (setpgid(0, 0) != 0) give_up(left, "setpgid");
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(left, "prctl");
  if (getppid() != parent) _exit(exit_not_run);  // the parent died before the prctl above
  for (const int number : *plan.ignored_signals) signal(number, SIG_DFL);
  if (!put_at(plan.input, STDIN_FILENO) || !put_at(plan.output, STDOUT_FILENO) ||
      !put_at(plan.error, STDERR_FILENO))
    give_up(left, "dup2");
  if (plan.kept >= 0 && fcntl(plan.kept, F_SETFD, 0) != 0) give_up(left, "fcntl");
  if (plan.descriptor_limit) setrlimit(RLIMIT_NOFILE, plan.descriptor_limit);
  if (plan.directory && chdir(plan.directory) != 0) give_up(left, plan.directory);
  if (plan.processors && sched_setaffinity(0, sizeof *plan.processors, plan.processors) != 0)
    give_up(left, "sched_setaffinity");
  sigprocmask(SIG_SETMASK, &plan.signal_mask, nullptr);
  execve(plan.path, plan.arguments, plan.environment);
  give_up(left, plan.path);
}

}  // namespace

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

child spawn(const child_plan& plan) noexcept {
  complaint left;
  const auto parent = getpid();
  // posix_spawn does only a part of `become`, whose error comes back through the shared memory:
  // NOLINTNEXTLINE(bugprone-unsafe-functions, clang-analyzer-security.insecureAPI.vfork)
  const auto pid = vfork();
  // NOLINTNEXTLINE(clang-analyzer-unix.Vfork): it does not return, and makes only system calls
  if (pid == 0) become(plan, parent, left);
  if (pid < 0) return {-1, errno, "vfork"};
  if (left.error_number == 0) return {pid, 0, ""};
  waitpid(pid, nullptr, 0);
  return {-1, left.error_number, left.step};
}

}  // namespace headway::mpiexec
