#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace headway::mpiexec {

/// Removes the shared-memory files of a job, /dev/shm/headway-JOB…, that its ranks left behind.
void remove_shared_files(const std::string& job_name);

/// Ends what a job leaves behind when mpiexec itself is killed: processes that ranks started
/// (the ranks themselves are killed by the kernel) and shared-memory files.
/// Shape:    a process of its own that sleeps until our end of a pipe closes.
/// Threads:  one.
class guardian {
 public:
  /// Starts it. `groups_max` is how many process groups `watch` will be told at most.
  guardian(const std::string& job_name, std::size_t groups_max);
  /// The job has cleaned up by itself: ends the process, which then removes nothing.
  ~guardian();
  guardian(const guardian&) = delete;
  guardian& operator=(const guardian&) = delete;

  void watch(pid_t group) noexcept;

 private:
  struct board;
  [[noreturn]] void stand_guard(int pipe, const std::string& job_name);

  board* board_ = nullptr;  ///< shared with the process
  std::size_t board_bytes_ = 0, groups_max_;
  pid_t pid_ = -1;
  int pipe_ = -1;
};

}  // namespace headway::mpiexec
