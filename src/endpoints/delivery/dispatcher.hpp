#pragma once

#include <algorithm>
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

/// The source of messages for handlers.
class message_source {
 public:
  /// The oldest message at `at`, received, and its handler. False: there is no message or no
  /// handler, and `at` is no longer runnable.
  [[nodiscard]] virtual bool take_for_handler(local_endpoint& at, message& out,
                                              handler& by) noexcept = 0;

 protected:
  ~message_source() = default;
};

/// Most threads wait, so that a pause of the dispatcher frees no processor for them. Each thread is
/// assumed to have an end-point.
[[nodiscard]] constexpr bool most_wait(std::int32_t waiting, std::int32_t endpoints) noexcept {
  return 2 * waiting >= endpoints;
}

/// What a dispatcher's thread does between two polls that find nothing.
enum class between_looks : std::uint8_t { sleep, pause, yield, nothing };

/// The inputs of that decision.
struct dispatch_situation {
  std::uint64_t gap_ns = 0;  ///< recent distance between messages, or the time since the last one
  bool most_wait = false;    ///< see above
  bool spare = false;        ///< a processor is free for the dispatcher's thread
};

inline constexpr std::uint64_t dispatch_pause_ns = 20'000;  // as in the paper

/// The answer of each policy. `automatic` follows the rate of messages: it polls while they come
/// faster than a wake-up pays, without a pause if they come faster than pauses end, and one step
/// faster if most threads wait and so need no processor. It sleeps if its polls would take a
/// processor from a computing thread.
[[nodiscard]] constexpr between_looks next_step(policy how, const dispatch_situation& s) noexcept {
  constexpr std::uint64_t worth_a_sleep_ns = 10 * dispatch_pause_ns;
  switch (how) {
    case policy::event:
      return between_looks::sleep;
    case policy::loop:
      return between_looks::nothing;
    case policy::yield:
      return between_looks::yield;
    case policy::pause:
      return s.most_wait ? between_looks::yield : between_looks::pause;
    case policy::automatic:
      break;
  }
  if (s.gap_ns >= worth_a_sleep_ns || (!s.spare && !s.most_wait)) return between_looks::sleep;
  if (s.gap_ns >= dispatch_pause_ns)
    return s.most_wait ? between_looks::yield : between_looks::pause;
  return s.most_wait ? between_looks::nothing : between_looks::yield;
}

/// The distance between messages: a moving average, at least the time since the last one.
/// Threads:  one.
class message_gap {
 public:
  void message(std::uint64_t now_ns) noexcept {
    const auto gap = std::min(now_ns - last_ns_, longest_ns);
    average_ns_ = average_ns_ - average_ns_ / 4 + gap / 4;
    last_ns_ = now_ns;
  }
  [[nodiscard]] std::uint64_t at(std::uint64_t now_ns) const noexcept {
    return std::max(average_ns_, now_ns - last_ns_);
  }

 private:
  static constexpr std::uint64_t longest_ns = 1'000'000;  // one long pause is soon forgotten
  std::uint64_t last_ns_ = 0, average_ns_ = longest_ns;
};

/// Runs the handlers of end-points, and polls for messages according to the policy.
///
/// Threads:  every function any thread, except `stop`: with no other thread.
/// Progress: a handler runs in the dispatcher's own thread or in one that calls `run`; for each
///           end-point one at a time. The thread is created for the first handler, or for the
///           policies `pause`, `yield` and `loop`; with the others it does not exist without
///           handlers, and ends when one of them is chosen.
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
  /// Runs ready handlers, for at most `most` messages. Returns how many there were.
  std::size_t run(std::size_t most) noexcept;
  /// Polls the rails `rounds` times, and runs the handlers that become ready.
  std::size_t help(unsigned rounds) noexcept;
  void stop() noexcept;
  /// An end-point was opened, or closed.
  void opened() noexcept;
  void closed() noexcept { endpoints.fetch_sub(1, std::memory_order_relaxed); }

  /// Whether `waiting` is used: if not, each wait saves two atomic additions.
  [[nodiscard]] bool counts_waits() const noexcept {
    const auto how = policy_.load(std::memory_order_relaxed);  // a setting
    return how == policy::pause || (how == policy::automatic && has_handlers_.load(relaxed));
  }
  // The number of threads that wait for messages, and of end-points: the policies that pause poll
  // more often while most of them wait. Relaxed: a hint.
  std::atomic<std::int32_t> waiting{0};
  std::atomic<std::int32_t> endpoints{0};

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  void start_thread();
  [[nodiscard]] bool retires() noexcept;
  void ring() noexcept;
  void main() noexcept;
  void sleep_until_ready() noexcept;
  [[nodiscard]] between_looks next() const noexcept;
  [[nodiscard]] bool looks_on() const noexcept;
  static void step(between_looks what) noexcept;
  [[nodiscard]] bool polls() const noexcept;

  message_source& source_;
  progress::engine& engine_;
  base::mutex lifetime_;  // cold
  std::thread thread_ HEADWAY_GUARDED_BY(lifetime_);
  std::atomic<policy> policy_{policy::automatic};  // relaxed: a setting
  std::atomic<bool> has_handlers_{false};          // relaxed: a hint
  std::atomic<bool> stopping_{false};              // relaxed; `bell_` carries it
  message_gap gap_;                                // used by the thread
  base::spinlock lock_;
  base::intrusive_list<local_endpoint> ready_ HEADWAY_GUARDED_BY(lock_);
  progress::completion* bell_ HEADWAY_GUARDED_BY(lock_) = nullptr;  // of the sleeping thread
  bool handlers_ HEADWAY_GUARDED_BY(lock_) = false;  // there has been a handler: the thread stays
  bool retired_ HEADWAY_GUARDED_BY(lock_) = false;   // the thread ends, or has ended
};

}  // namespace headway::endpoints
