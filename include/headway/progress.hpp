// Owners, in C++17, of the engine and of ltasks (headway/progress.h). Link as for that header, or
// with CMake `find_package(headway_progress)` and the target headway::progress.
//
// Threads:  as the C functions.
// Progress: as the C functions.
// Errors:   `headway::progress_error`, whose text is that of headway_progress_error.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "headway/progress.h"

namespace headway {

class progress_error : public std::runtime_error {
 public:
  explicit progress_error(int status)
      : std::runtime_error(headway_progress_error()), status_(status) {}
  [[nodiscard]] int status() const noexcept { return status_; }

 private:
  int status_;
};

// Throws if the call has failed; else its ordinary answer.
inline int check_progress(int status) {
  if (status < 0) throw progress_error(status);
  return status;
}

// The engine of the process runs as long as there is an owner. Ltasks must end before.
class progress {
 public:
  explicit progress(const headway_progress_options* options = nullptr) {
    check_progress(headway_progress_start(options));
  }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress() { static_cast<void>(headway_progress_stop()); }
};

// An ltask that calls `Run`, a function object that returns a headway_ltask_result. Its owner
// cancels it at the end, so that what `Run` refers to may be freed afterwards.
template <class Run>
class ltask {
 public:
  explicit ltask(Run run, headway_ltask_attributes attributes = HEADWAY_LTASK_ATTRIBUTES)
      : run_(std::move(run)) {
    attributes.run = [](headway_ltask*, void* self) { return static_cast<ltask*>(self)->run_(); };
    attributes.argument = this;
    check_progress(headway_ltask_init(&task_, &attributes));
  }
  ltask(const ltask&) = delete;  // the library keeps its address
  ltask& operator=(const ltask&) = delete;
  ~ltask() {
    if (headway_ltask_test(&task_) == 0) static_cast<void>(headway_ltask_cancel(&task_));
    static_cast<void>(headway_ltask_destroy(&task_));
  }

  void submit() { check_progress(headway_ltask_submit(&task_)); }
  void resume() { check_progress(headway_ltask_resume(&task_)); }
  void wait() { check_progress(headway_ltask_wait(&task_)); }
  // False: the limit has passed.
  [[nodiscard]] bool wait_for(std::uint64_t limit_ns) {
    return check_progress(headway_ltask_wait_for(&task_, limit_ns)) != HEADWAY_PROGRESS_TIMEOUT;
  }
  [[nodiscard]] bool has_ended() const noexcept { return headway_ltask_test(&task_) != 0; }
  [[nodiscard]] headway_ltask& c() noexcept { return task_; }

 private:
  headway_ltask task_;
  Run run_;
};

}  // namespace headway
