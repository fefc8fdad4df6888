#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "base/intrusive_list.hpp"
#include "base/spinlock.hpp"
#include "endpoints/inbox.hpp"
#include "endpoints/service.hpp"
#include "progress/engine.hpp"

namespace headway::endpoints {

/// An end-point of this process, and the handler of its messages if it has one.
struct local_endpoint : base::list_hook<> {
  inbox box;
  handler by;             ///< written under both locks of the box
  bool runnable = false;  ///< in the dispatcher's list, or being run; under box.lock
};

/// How HEADWAY_DISPATCH looks for messages while no thread waits; positions as in the tunable.
enum class policy : int { automatic, pause, yield, loop, event };

/// Most threads wait: they have nothing to do with the processor that a pause would leave them, so
/// that a dispatcher that pauses only yields. Each thread is taken to have an end-point.
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
/// Source:   pcor02 (PAPERS.md mechanism 19).
class dispatcher {
 public:
  using take_one = bool (*)(service_parts& of, local_endpoint& at, message& out,
                            handler& by) noexcept;
  dispatcher(service_parts& of, progress::engine& engine, take_one take) noexcept
      : of_(of), engine_(engine), take_(take) {}
  ~dispatcher() { stop(); }

  void choose(policy how);
  /// There is a handler now: somebody must run it.
  void need_thread();
  /// `e` has a message for its handler. Once, until it was run (`e.runnable`).
  void ready(local_endpoint& e) noexcept;
  /// Handlers that are ready, at most `most` messages. How many it were.
  std::size_t run(std::size_t most) noexcept;
  /// Looks at the rails `rounds` times, and runs what that makes ready.
  std::size_t help(unsigned rounds) noexcept;
  void stop() noexcept;
  /// One end-point more, one less.
  void opened() noexcept;
  void closed() noexcept { endpoints.fetch_sub(1, std::memory_order_relaxed); }

  /// Does anybody ask how many wait? Two atomic additions for each message, else.
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

  service_parts& of_;
  progress::engine& engine_;
  const take_one take_;
  std::mutex lifetime_;  // of the thread; cold
  std::thread thread_;
  std::atomic<policy> policy_{policy::automatic};  // relaxed: a setting
  std::atomic<bool> stopping_{false};              // relaxed; `bell_` carries it
  base::spinlock lock_;                            // guards the rest
  base::intrusive_list<local_endpoint> ready_;
  progress::completion* bell_ = nullptr;  // of the sleeping thread
  bool handlers_ = false;                 // there was one: the thread stays
  bool retired_ = false;                  // the thread ends, or has ended
};

}  // namespace headway::endpoints
