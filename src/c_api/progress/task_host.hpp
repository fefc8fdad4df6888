#pragma once

#include <cstdint>
#include <thread>

#include "base/atomic.hpp"
#include "base/mutex.hpp"
#include "c_api/progress/hand_over.hpp"
#include "progress/core/engine.hpp"

namespace headway::progress_api {

class task;

/// What all tasks share besides the engine: one thread that calls their blocking forms, one at a
/// time, and the count of tasks that are submitted but not pending.
/// Threads:  every function any thread; destroyed when no task is submitted.
/// Progress: never waits, except `start_thread_once`, which starts a thread.
class task_host {
 public:
  explicit task_host(progress::engine& home) noexcept : home_(home) {}
  ~task_host();
  task_host(const task_host&) = delete;
  task_host& operator=(const task_host&) = delete;

  [[nodiscard]] progress::engine& home() noexcept { return home_; }

  /// Tasks that are submitted but not pending: suspended, in a blocking form, or patient. Relaxed:
  /// only a count.
  void add_unpending(int change) noexcept {
    unpending_.fetch_add(change, std::memory_order_relaxed);
  }
  [[nodiscard]] int unpending() const noexcept {
    return unpending_.load(std::memory_order_relaxed);
  }

  /// Reserves the thread for the caller's `send` or `unreserve`. False: it is busy, or not started.
  [[nodiscard]] bool reserve() noexcept { return hand_over_.reserve(); }
  void unreserve() noexcept { hand_over_.unreserve(); }
  void send(task& t) noexcept;
  /// Starts the thread if it does not run. False: the kernel refused.
  [[gnu::noinline]] bool start_thread_once() noexcept;

 private:
  void serve() noexcept;

  progress::engine& home_;
  base::atomic<int> unpending_{0};
  basic_hand_over<task> hand_over_;
  base::mutex control_;
  std::thread thread_ HEADWAY_GUARDED_BY(control_);
};

}  // namespace headway::progress_api
