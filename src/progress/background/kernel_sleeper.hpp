#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/mutex.hpp"
#include "base/result.hpp"
#include "progress/background/event_source.hpp"
#include "progress/background/sleep_place.hpp"
#include "progress/completion/sleep_flag.hpp"

namespace headway::progress {

/// The right to sleep in the kernel on all event sources, and that sleep. Beside a holder that is
/// parked (parking.hpp) one more thread can sleep on them, at a place of its own: an event wakes
/// that one.
/// Shape:    two sleep_places; one holder at a time, and one thread beside it.
/// Threads:  `try_take`, `try_take_beside`, `kick`, `set_wanted`, `add`, `remove` any; `release`
///           and `sleep` by the holder, `release_beside` and `sleep_beside` by the one beside it.
/// Progress: `sleep` sleeps in the kernel, at most until its deadline; `add` and `remove` wait
///           while sources are being armed (microseconds); the others never wait.
/// Errors:   `open` when the kernel gives no descriptor.
class kernel_sleeper {
  // The sleeper sets its flag (K) and then looks for work: submissions, `wanted`, sources (their
  // `arm`). A thread that brings work makes it visible and then reads the flag (W). (K), (W) and
  // the words between are seq_cst: one of the two sees the other. Bytes from outside need no such
  // word: descriptors are level-triggered, and armed before the sleep.
 public:
  enum class holder : std::uint32_t { nobody, application, background };

  [[nodiscard]] static base::result<std::unique_ptr<kernel_sleeper>> open(
      std::uint64_t blind_period_ns);
  kernel_sleeper(const kernel_sleeper&) = delete;
  kernel_sleeper& operator=(const kernel_sleeper&) = delete;

  [[nodiscard]] bool try_take(holder who) noexcept {
    auto nobody = holder::nobody;
    return holder_.compare_exchange_strong(nobody, who, std::memory_order_seq_cst,
                                           std::memory_order_relaxed);
  }
  /// seq_cst: pairs with gate and balance, see quiet_sleep.hpp, `tell`.
  void release() noexcept {
    HEADWAY_DEBUG_ASSERT(held_by() != holder::nobody);
    holder_.store(holder::nobody, std::memory_order_seq_cst);
  }
  [[nodiscard]] holder held_by() const noexcept { return holder_.load(std::memory_order_seq_cst); }

  /// Beside a holder that is parked. The caller counts as pending (core/pending.hpp) before it
  /// sleeps: where the holder is no longer parked, background threads see to it that what it waits
  /// for arrives, as for a thread that sleeps on a word.
  [[nodiscard]] bool try_take_beside() noexcept {
    return !beside_taken_.load(std::memory_order_relaxed) &&
           !beside_taken_.exchange(true, std::memory_order_acquire);
  }
  void release_beside() noexcept { beside_taken_.store(false, std::memory_order_release); }
  /// Until an event, a kick of that place or the deadline.
  void sleep_beside(std::uint64_t deadline_ns) noexcept;
  /// Where a thread sleeps that holds the right, or sleeps beside the holder.
  [[nodiscard]] sleep_place& place() noexcept { return place_; }
  [[nodiscard]] sleep_place& place_beside() noexcept { return beside_; }

  /// A waiting thread wants to sleep here: a background thread is to leave.
  void set_wanted(bool on) noexcept { wanted_.store(on, std::memory_order_seq_cst); }
  [[nodiscard]] bool wanted() const noexcept { return wanted_.load(std::memory_order_seq_cst); }

  /// Sleeps until a source, `kick` or the deadline, unless `has_work()` is true or a source refuses
  /// to be armed; with a source that cannot wake a thread, at most for the blind period. False: it
  /// did not sleep.
  template <class HasWork>
  [[nodiscard]] bool sleep(std::uint64_t deadline_ns, wake_for what, HasWork has_work) noexcept {
    asleep_.begin_sleep();
    const bool sleeps = arm(what) && !has_work();
    if (sleeps) sleep_armed(deadline_ns);
    asleep_.end_sleep();
    disarm();
    return sleeps;
  }
  /// Whether a thread can sleep here while no source is armed: none would wake it.
  [[nodiscard]] bool may_park() const noexcept {
    return silent_.load(std::memory_order_relaxed) && !is_blind();
  }
  /// As `sleep`, but without arming the sources: another thread may do that meanwhile
  /// (parking.hpp). `deadline()` returns 0 if there is work.
  template <class Deadline>
  void park(Deadline deadline) noexcept {
    asleep_.begin_sleep();
    if (const std::uint64_t until_ns = deadline(); until_ns != 0) sleep_armed(until_ns);
    asleep_.end_sleep();
  }
  /// For the thread that sleeps in `park`, by one thread at a time. False: there is work already,
  /// or some that no source signals.
  [[nodiscard]] bool arm_parked(wake_for what) noexcept { return arm(what) && !is_blind(); }
  void disarm_parked() noexcept { disarm(); }
  /// Ends the holder's sleep, the current or the next one. A system call.
  void kick() noexcept { place_.kick(); }
  /// The same if a thread sleeps; otherwise only a load. After the work was made visible (seq_cst).
  void kick_sleeper() noexcept {
    if (asleep_.sleeping()) [[unlikely]]
      kick();
  }

  /// Something cannot wake a sleeper: a source, or work that no source signals. seq_cst after (K),
  /// for changes during that step; elsewhere a hint.
  [[nodiscard]] bool is_blind() const noexcept {
    return blind_sources_.load(std::memory_order_relaxed) +
               blind_polls_.load(std::memory_order_seq_cst) >
           0;
  }
  /// The shortest useful polling period of all sources. Relaxed: a hint.
  [[nodiscard]] std::uint64_t shortest_period_ns() const noexcept {
    return shortest_period_ns_.load(std::memory_order_relaxed);
  }

  void add(event_source& source);
  void remove(event_source& source);
  /// There is work that no source signals. seq_cst before (W): a thread that sleeps without a time
  /// limit is woken.
  void blind_started() noexcept {
    if (blind_polls_.fetch_add(1, std::memory_order_seq_cst) == 0) kick_sleeper();
  }
  /// Relaxed: an end may be seen late.
  void blind_ended() noexcept { blind_polls_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  explicit kernel_sleeper(std::uint64_t blind_period_ns) noexcept
      : blind_period_ns_(blind_period_ns) {}
  void count_sources() noexcept HEADWAY_REQUIRES(lock_);
  [[nodiscard]] bool arm(wake_for what) noexcept HEADWAY_EXCLUDES(lock_);
  void disarm() noexcept HEADWAY_EXCLUDES(lock_);
  void sleep_armed(std::uint64_t deadline_ns) noexcept;

  base::atomic<holder> holder_{holder::nobody};
  base::atomic<bool> wanted_{false};
  basic_sleep_flag<> asleep_;
  base::atomic<bool> beside_taken_{false};
  sleep_place place_;
  sleep_place beside_;
  const std::uint64_t blind_period_ns_;
  base::mutex lock_;  // cold: taken before and after a sleep in the kernel
  struct entry {
    event_source* source;
    int descriptor;  ///< in the epoll set, or -1
  };
  std::vector<entry> sources_ HEADWAY_GUARDED_BY(lock_);
  base::atomic<int> blind_sources_{0};                 // written under the lock
  base::atomic<bool> silent_{true};                    // written under the lock
  base::atomic<std::uint64_t> shortest_period_ns_{0};  // written under the lock
  base::atomic<int> blind_polls_{0};
};

}  // namespace headway::progress
