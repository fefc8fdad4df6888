#pragma once

#include <cstdint>
#include <mutex>
#include <thread>

#include "base/atomic.hpp"
#include "progress/engine.hpp"
#include "progress/hand_over.hpp"

namespace headway::progress {

class task;

/// What tasks need besides an engine: a thread that calls their blocking forms, one at a time, and
/// the count of those that are submitted and yet not pending.
/// Threads:  every function any thread; `stop` once, when no task is submitted.
/// Progress: `lend_thread` never waits.
class task_host {
 public:
  explicit task_host(engine& home) noexcept : home_(home) {}
  ~task_host();
  task_host(const task_host&) = delete;
  task_host& operator=(const task_host&) = delete;

  [[nodiscard]] engine& home() noexcept { return home_; }

  /// Tasks that are suspended, in a blocking form, or patient: submitted, but not pending.
  void aside(int change) noexcept { aside_.fetch_add(change, std::memory_order_relaxed); }
  [[nodiscard]] int aside() const noexcept { return aside_.load(std::memory_order_relaxed); }

  /// The thread is free and there: it will have a task next, once the caller says `send`.
  [[nodiscard]] bool reserve() noexcept { return room_.reserve(); }
  void unreserve() noexcept { room_.unreserve(); }
  void send(task& t) noexcept;
  /// Makes sure that there is a thread. Control plane; false: the kernel gives none.
  [[gnu::noinline]] bool start_thread_once() noexcept;

 private:
  void serve() noexcept;

  engine& home_;
  base::atomic<int> aside_{0};
  basic_hand_over<task> room_;
  std::mutex control_;  // cold: guards thread_
  std::thread thread_;
};

}  // namespace headway::progress
