#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "base/intrusive_list.hpp"
#include "base/mutex.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "endpoints/delivery/local_endpoint.hpp"
#include "endpoints/delivery/message.hpp"
#include "endpoints/settings.hpp"
#include "progress/core/engine.hpp"

namespace headway::endpoints {

/// Where a dispatcher gets messages for handlers.
class message_source {
 public:
  /// The oldest message at `at`, received, and its handler. False: one of them is missing, and `at`
  /// is runnable no more.
  [[nodiscard]] virtual bool take_for_handler(local_endpoint& at, message& out,
                                              handler& by) noexcept = 0;

 protected:
  ~message_source() = default;
};

/// Most threads wait, so that a pause would leave the processor to none of them: a dispatcher that
/// pauses then only yields. Each thread is taken to have an end-point.
[[nodiscard]] constexpr bool most_wait(std::int32_t waiting, std::int32_t endpoints) noexcept {
  return 2 * waiting >= endpoints;
}

/// Runs the handlers of end-points, and looks for messages as the policy says.
///
/// Threads:  every function any thread, but `stop`, which is alone.
/// Progress: a handler runs in the dispatcher's own thread or in one that calls `run`; one at a
///           time for each end-point. The thread is made for the first handler, or for the policies
///           `pause`, `yield` and `loop`; without handlers, the others have none, and it ends when
///           one of them is chosen.
/// Source:   pcor02 (docs/papers.md, mechanism 19).
class dispatcher {
 public:
  dispatcher(message_source& source, progress::engine& engine) noexcept
      : source_(source), engine_(engine) {}
  ~dispatcher() { stop(); }

  void choose(policy how);
  /// There is a handler now: the thread must exist to run it.
  void need_thread();
  /// `e` has a message for its handler. Once, until it was run (`e.runnable`).
  void ready(local_endpoint& e) noexcept;
  /// Runs handlers that are ready, for at most `most` messages. How many there were.
  std::size_t run(std::size_t most) noexcept;
  /// Looks at the rails `rounds` times, and runs what that makes ready.
  std::size_t help(unsigned rounds) noexcept;
  void stop() noexcept;
  /// An end-point was opened, or closed.
  void opened() noexcept;
  void closed() noexcept { endpoints.fetch_sub(1, std::memory_order_relaxed); }

  /// Whether `waiting` is used at all: two atomic additions for each wait otherwise.
  [[nodiscard]] bool counts_waits() const noexcept {
    return policy_.load(std::memory_order_relaxed) == policy::pause;  // a setting
  }
  // How many threads wait for messages, and how many end-points there are: a dispatcher that pauses
  // only yields while most of them wait. Relaxed: a hint.
  std::atomic<std::int32_t> waiting{0};
  std::atomic<std::int32_t> endpoints{0};

 private:
  void start_thread();
  [[nodiscard]] bool retires() noexcept;
  void ring() noexcept;
  void main() noexcept;
  void sleep_until_ready() noexcept;
  void breathe() noexcept;
  [[nodiscard]] bool polls() const noexcept;

  message_source& source_;
  progress::engine& engine_;
  base::mutex lifetime_;  // cold
  std::thread thread_ HEADWAY_GUARDED_BY(lifetime_);
  std::atomic<policy> policy_{policy::automatic};  // relaxed: a setting
  std::atomic<bool> stopping_{false};              // relaxed; `bell_` carries it
  base::spinlock lock_;
  base::intrusive_list<local_endpoint> ready_ HEADWAY_GUARDED_BY(lock_);
  progress::completion* bell_ HEADWAY_GUARDED_BY(lock_) = nullptr;  // of the sleeping thread
  bool handlers_ HEADWAY_GUARDED_BY(lock_) = false;  // there was one: the thread stays
  bool retired_ HEADWAY_GUARDED_BY(lock_) = false;   // the thread ends, or has ended
};

}  // namespace headway::endpoints
