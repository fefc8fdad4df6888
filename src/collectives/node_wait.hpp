#pragma once

#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "progress/completion/completion.hpp"
#include "progress/core/engine.hpp"
#include "progress/core/ltask.hpp"
#include "rails/shm_slots.hpp"

namespace headway::collectives {

/// Waits at the engine for what other processes of the node write into memory that all of them see:
/// meanwhile this process progresses, and the thread sleeps at last.
/// Shape:    for one wait at a time. Writers call rails::shm_slots::wake after they have written.
/// Threads:  `wait` one at a time. While it lasts, `is_there` and `is_over` are called by any.
/// Progress: `wait` does.
class node_wait {
 public:
  node_wait(const node_wait&) = delete;
  node_wait& operator=(const node_wait&) = delete;

 protected:
  /// Both outlive it. `name` is of the ltask.
  node_wait(const char* name, rails::shm_slots& memory, progress::engine& engine);
  ~node_wait();

  /// Returns when it is there, or never will be.
  void wait() noexcept;

 private:
  /// Whether all that the thread waits for has been written.
  [[nodiscard]] virtual bool is_there() const noexcept = 0;
  /// Asked by one thread at a time, when it is not there: whether it never will be.
  [[nodiscard]] virtual bool is_over() noexcept = 0;

  struct poll_task : progress::ltask {
    poll_task(const char* name, node_wait& of) noexcept;
    node_wait& owner;
  };
  /// A class of its own, because other threads call `ready` while a derived class is constructed or
  /// destroyed, which writes the pointer to the virtual table of that object.
  struct watcher final : rails::shm_slots::watcher {
    explicit watcher(const node_wait& of) noexcept : owner(of) {}
    [[nodiscard]] bool ready() const noexcept override;
    const node_wait& owner;
  };
  static progress::ltask_result poll(progress::ltask& task) noexcept;

  rails::shm_slots& memory_;
  progress::engine& engine_;
  poll_task task_;
  watcher watcher_{*this};
  progress::completion done_;
  mutable base::spinlock lock_;  // taken around sleeps, and at both ends of a wait
  bool waits_ HEADWAY_GUARDED_BY(lock_) = false;
};

}  // namespace headway::collectives
