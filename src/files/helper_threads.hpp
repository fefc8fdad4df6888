#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/intrusive_list.hpp"

namespace headway::files {

struct job_tag;

/// Something that waits for the kernel, so that the thread that wants it need not.
class job : public base::list_hook<job_tag> {
 public:
  /// Called once, by a helper thread. The job may be freed in it.
  virtual void run() noexcept = 0;

 protected:
  ~job() = default;
};

/// The threads that carry out non-blocking accesses to files.
/// Shape:    none at first; one more for each job that finds none idle, up to `threads_max`. Later
///           jobs wait until one is.
/// Threads:  any.
/// Progress: `submit` does not wait for the job, unless the system refuses the first thread: the
///           caller carries it out then. The destructor waits until all jobs have ended.
class helper_threads {
 public:
  static constexpr std::size_t threads_max = 4;

  /// `processors`: on which they may run; empty: those of the thread that submits.
  explicit helper_threads(std::vector<int> processors) : processors_(std::move(processors)) {}
  ~helper_threads();
  helper_threads(const helper_threads&) = delete;
  helper_threads& operator=(const helper_threads&) = delete;

  void submit(job& what);

 private:
  void serve();
  /// False: there is no thread for it.
  [[nodiscard]] bool queue(job& what) noexcept;
  /// Whether there is a thread now that will take the next job.
  [[nodiscard]] bool make_thread() noexcept;

  const std::vector<int> processors_;
  // Guards what follows. std::mutex: see watch/observer.cpp.
  std::mutex lock_;
  std::condition_variable changed_;
  base::intrusive_list<job, job_tag> waiting_;
  std::size_t waiting_count_ = 0, idle_ = 0;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace headway::files
