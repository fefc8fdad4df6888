#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <vector>

#include "base/result.hpp"
#include "launch/spawn_request.hpp"

namespace headway::mpiexec {

/// The jobs that ranks of this one have started (MPI_Comm_spawn): each an mpiexec of its own, in a
/// process group of its own, which the kernel kills when this mpiexec ends.
/// Threads:  one.
/// Progress: `start` waits as `spawn` does; the rest never.
class started_jobs {
 public:
  /// What this mpiexec has itself, and gives to a job as to a rank. All of it outlives this.
  struct surroundings {
    const char* const* environment = nullptr;
    const sigset_t* signal_mask = nullptr;
    const std::vector<int>* ignored_signals = nullptr;
    int input = -1;
  };
  explicit started_jobs(const surroundings& with) : with_(with) {}
  ~started_jobs();
  started_jobs(const started_jobs&) = delete;
  started_jobs& operator=(const started_jobs&) = delete;

  struct started {
    pid_t process = -1;
    int watch = -1;  ///< readable when it has ended; -1: `look` has to be called from time to time
  };
  [[nodiscard]] base::result<started> start(const launch::spawn_request& what);
  /// Notes which have ended.
  void look() noexcept;
  [[nodiscard]] bool any_running() const noexcept;
  void send_signal(int signal_number) noexcept;
  /// Of the first one that has failed; 0: none.
  [[nodiscard]] int exit_code() const noexcept { return exit_code_; }

 private:
  struct job {
    started is;
    bool running = true;
  };

  const surroundings with_;
  std::vector<job> jobs_;
  int exit_code_ = 0;
};

}  // namespace headway::mpiexec
