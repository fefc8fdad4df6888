#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace headway::mpiexec {

/// Removes what the ranks of a job left behind in these folders: segments, headway-JOB-…, and
/// blocks of windows, headway_window-HASH-… with a hash of the job's name.
void remove_shared_files(const std::string& job_name, const std::vector<std::string>& folders);

/// Cleans up after a job when mpiexec itself is killed: kills processes that ranks have started
/// (the kernel kills the ranks themselves) and removes shared-memory files.
/// Shape:    a separate process that sleeps until mpiexec's end of a pipe closes.
/// Threads:  one.
class guardian {
 public:
  /// Starts the process. `groups_max` is the largest number of calls of `watch`.
  guardian(const std::string& job_name, const std::vector<std::string>& folders,
           std::size_t groups_max);
  /// Ends the process, because the job was cleaned up.
  ~guardian();
  guardian(const guardian&) = delete;
  guardian& operator=(const guardian&) = delete;

  void watch(pid_t group) noexcept;

 private:
  struct group_list;
  [[noreturn]] void clean_up_after(int pipe, const std::string& job_name,
                                   const std::vector<std::string>& folders);

  group_list* groups_ = nullptr;  ///< shared with the process
  std::size_t groups_bytes_ = 0, groups_max_;
  pid_t pid_ = -1;
  int pipe_ = -1;
};

}  // namespace headway::mpiexec
