#include "tools/mpiexec/shm_cleanup.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <new>
#include <string_view>

#include "base/hash.hpp"

namespace headway::mpiexec {

void remove_shared_files(const std::string& job_name, const std::vector<std::string>& folders) {
  // Without the last character "job-1" would be "job-12" too.
  const auto segments = fmt::format("headway-{}-", job_name);
  const auto windows = fmt::format("headway_window-{:x}-", base::hash_of(job_name));
  for (const auto& path : folders) {
    DIR* folder = opendir(path.c_str());
    if (!folder) continue;
    while (const auto* entry = readdir(folder)) {
      const std::string_view name(entry->d_name);
      if (name.starts_with(segments) || name.starts_with(windows))
        // NOLINTNEXTLINE(clang-analyzer-unix.StdCLibraryFunctions): an open folder has a descriptor
        unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
  }
}

struct guardian::group_list {
  std::atomic<std::size_t> count{0};

  /// The groups follow the count, in memory that is zero at first.
  std::atomic<pid_t>& group(std::size_t index) noexcept {
    return reinterpret_cast<std::atomic<pid_t>*>(this + 1)[index];
  }
};

guardian::guardian(const std::string& job_name, const std::vector<std::string>& folders,
                   std::size_t groups_max)
    : groups_max_(groups_max) {
  groups_bytes_ = sizeof(group_list) + groups_max * sizeof(std::atomic<pid_t>);
  void* memory =
      mmap(nullptr, groups_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int ends[2];
  if (memory == MAP_FAILED || pipe2(ends, O_CLOEXEC) != 0) return;  // the job runs without clean-up
  groups_ = new (memory) group_list;
  pid_ = fork();
  if (pid_ == 0) clean_up_after(ends[0], job_name, folders);
  close(ends[0]);
  pipe_ = ends[1];
}

guardian::~guardian() {
  // (W): the groups have ended, and their numbers may belong to others.
  if (groups_) groups_->count.store(0, std::memory_order_release);
  if (pipe_ >= 0) close(pipe_);
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
  if (groups_) munmap(groups_, groups_bytes_);
}

void guardian::watch(pid_t group) noexcept {
  if (!groups_) return;
  const auto index =
      groups_->count.load(std::memory_order_relaxed);  // this process alone writes it
  if (index == groups_max_) return;
  groups_->group(index).store(group, std::memory_order_relaxed);  // published by (W)
  groups_->count.store(index + 1, std::memory_order_release);     // (W) pairs with (G)
}

void guardian::clean_up_after(int pipe, const std::string& job_name,
                              const std::vector<std::string>& folders) {
  setpgid(0, 0);  // out of reach of the terminal's signals
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  // A reader of mpiexec's output must not wait for this process to close it.
  if (pipe > 0) close_range(0, static_cast<unsigned>(pipe) - 1, 0);
  close_range(static_cast<unsigned>(pipe) + 1, ~0u, 0);
  char nothing;
  ssize_t got;
  while ((got = read(pipe, &nothing, 1)) < 0 && errno == EINTR) {
  }
  if (got < 0) _exit(0);  // it cannot be told when mpiexec ends
  const auto count = groups_->count.load(std::memory_order_acquire);  // (G)
  for (std::size_t i = 0; i < count; ++i)
    kill(-groups_->group(i).load(std::memory_order_relaxed), SIGKILL);  // ordered by (G)
  remove_shared_files(job_name, folders);
  _exit(0);
}

}  // namespace headway::mpiexec
