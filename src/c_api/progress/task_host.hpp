#pragma once

#include <cstdint>
#include <thread>

#include "base/atomic.hpp"
#include "base/mutex.hpp"
#include "c_api/progress/hand_over.hpp"
#include "progress/core/engine.hpp"

namespace headway::progress_api {

class task;

/// What tasks need besides an engine: a thread that calls their blocking forms, one at a time, and
/// the count of those that are submitted and yet not pending.
/// Threads:  every function any thread; `stop` once, when no task is submitted.
/// Progress: `lend_thread` never waits.
class task_host {
 public:
  explicit task_host(progress::engine& home) noexcept : home_(home) {}
  ~task_host();
  task_host(const task_host&) = delete;
  task_host& operator=(const task_host&) = delete;

  [[nodiscard]] progress::engine& home() noexcept { return home_; }

  /// Tasks that are suspended, in a blocking form, or patient: submitted, but not pending. Relaxed:
  /// a count.
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
  /// Makes sure that there is a thread. Control plane; false: the kernel gives none.
  [[gnu::noinline]] bool start_thread_once() noexcept;

 private:
  void serve() noexcept;

  progress::engine& home_;
  base::atomic<int> unpending_{0};
  basic_hand_over<task> hand_over_;
  base::mutex control_;  // cold
  std::thread thread_ HEADWAY_GUARDED_BY(control_);
};

}  // namespace headway::progress_api
