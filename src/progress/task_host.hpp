#pragma once

#include <cstdint>
#include <mutex>
#include <thread>

#include "base/atomic.hpp"
#include "progress/engine.hpp"

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

  /// The thread is free and there: it will have `t` next, once the caller says `send`.
  [[nodiscard]] bool reserve() noexcept;
  void send(task& t) noexcept;
  void unreserve() noexcept;
  /// Makes sure that there is a thread. Control plane; false: the kernel gives none.
  [[gnu::noinline]] bool start_thread_once() noexcept;

 private:
  // free -> reserved by a round (V), -> the task (S), -> free by the thread (V') when it is done.
  void serve() noexcept;
  static constexpr std::uintptr_t free = 0, reserved = 1, no_thread = 2, ended = 3;

  engine& home_;
  base::atomic<int> aside_{0};
  base::atomic<std::uintptr_t> slot_{no_thread};
  base::atomic<std::uint32_t> bell_{0};
  std::mutex control_;  // cold: guards thread_
  std::thread thread_;
};

}  // namespace headway::progress
