#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/atomic.hpp"
#include "base/result.hpp"
#include "progress/event_source.hpp"
#include "progress/sleep_flag.hpp"

namespace headway::progress {

/// The right to sleep in the kernel on all event sources, and that sleep.
/// Shape:    one epoll descriptor, one eventfd; one holder at a time.
/// Threads:  `try_take`, `kick`, `wish`, `add`, `remove` any; `release` and `sleep` the holder.
/// Progress: `sleep` sleeps in the kernel, at most until its deadline; `add` and `remove` wait for
///           the arming under way (microseconds); the others never wait.
/// Errors:   `open` when the kernel gives no descriptor.
class guard {
  // Who sleeps says so (K) and then looks for work: submissions, wishes, sources (their `arm`). Who
  // brings work makes it visible and then looks whether somebody sleeps (W). (K), (W) and the words
  // between are seq_cst: one sees the other. Bytes from outside need no word of ours: descriptors
  // are level-triggered, and armed before the sleep.
 public:
  enum class holder : std::uint32_t { nobody, application, background };

  [[nodiscard]] static base::result<std::unique_ptr<guard>> open(std::uint64_t blind_period_ns);
  ~guard();
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;

  [[nodiscard]] bool try_take(holder who) noexcept {
    auto nobody = holder::nobody;
    return holder_.compare_exchange_strong(nobody, who, std::memory_order_seq_cst,
                                           std::memory_order_relaxed);
  }
  /// seq_cst: pairs with gate and balance, see engine_core.hpp, `tell_background`.
  void release() noexcept { holder_.store(holder::nobody, std::memory_order_seq_cst); }
  [[nodiscard]] holder held_by() const noexcept { return holder_.load(std::memory_order_seq_cst); }

  /// An application thread wants to be guard: a background one shall make room.
  void wish(bool on) noexcept { wished_.store(on, std::memory_order_seq_cst); }
  [[nodiscard]] bool wished() const noexcept { return wished_.load(std::memory_order_seq_cst); }

  /// Sleeps until a source, `kick` or the deadline, unless `has_work()` or a source says no; with a
  /// source that cannot wake us, no longer than the blind period. False: it did not sleep.
  template <class HasWork>
  [[nodiscard]] bool sleep(std::uint64_t deadline_ns, HasWork has_work) noexcept {
    asleep_.lie_down();
    const bool sleeps = arm() && !has_work();
    if (sleeps) sleep_armed(deadline_ns);
    asleep_.get_up();
    disarm();
    return sleeps;
  }
  /// Ends the holder's sleep, now or when it comes to it. A system call.
  void kick() noexcept;
  /// The same if somebody sleeps: a load when not. After the work has been made visible (seq_cst).
  void kick_sleeper() noexcept {
    if (asleep_.somebody_sleeps()) [[unlikely]]
      kick();
  }

  /// Something cannot wake us: a source, or what no source tells of. seq_cst after (K), for what
  /// became so while we lay down; elsewhere a hint.
  [[nodiscard]] bool is_blind() const noexcept {
    return blind_sources_.load(std::memory_order_relaxed) +
               blind_polls_.load(std::memory_order_seq_cst) >
           0;
  }
  /// The shortest period at which polling pays for any source there is. Relaxed: a hint.
  [[nodiscard]] std::uint64_t shortest_period_ns() const noexcept {
    return shortest_period_ns_.load(std::memory_order_relaxed);
  }

  void add(event_source& source);
  void remove(event_source& source);
  /// Something that no source tells of. seq_cst before (W): who sleeps without a limit is woken.
  void blind_started() noexcept {
    if (blind_polls_.fetch_add(1, std::memory_order_seq_cst) == 0) kick_sleeper();
  }
  /// Relaxed: an end is seen late at worst.
  void blind_ended() noexcept { blind_polls_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  guard(int epoll, int control, std::uint64_t blind_period_ns) noexcept
      : epoll_(epoll), control_(control), blind_period_ns_(blind_period_ns) {}
  void count_sources() noexcept;
  [[nodiscard]] bool arm() noexcept;
  void disarm() noexcept;
  void sleep_armed(std::uint64_t deadline_ns) noexcept;

  base::atomic<holder> holder_{holder::nobody};
  base::atomic<bool> wished_{false};
  basic_sleep_flag<> asleep_;
  const int epoll_;
  const int control_;
  const std::uint64_t blind_period_ns_;
  std::mutex lock_;  // cold: taken before and after a sleep in the kernel; guards the two below
  struct entry {
    event_source* source;
    int descriptor;  ///< in the epoll set, or -1
  };
  std::vector<entry> sources_;
  base::atomic<int> blind_sources_{0};                 // written under the lock
  base::atomic<std::uint64_t> shortest_period_ns_{0};  // likewise
  base::atomic<int> blind_polls_{0};
};

}  // namespace headway::progress
