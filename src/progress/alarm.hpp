#pragma once

#include <cstdint>
#include <memory>

#include "base/atomic.hpp"
#include "base/result.hpp"

namespace headway::progress {

/// One of the kernel's timers, that one thread sleeps on.
/// Threads:  any set it, one sleeps.
/// Progress: `set` never waits.
class kernel_timer {
 public:
  static base::result<std::unique_ptr<kernel_timer>> open();
  ~kernel_timer();
  kernel_timer(const kernel_timer&) = delete;
  kernel_timer& operator=(const kernel_timer&) = delete;

  /// To `in_ns` (> 0) from now, in place of whatever it was set to.
  void set(std::uint64_t in_ns) noexcept;
  /// Until it has gone off, now or since it was waited for last; or a signal's handler ran.
  void wait() noexcept;

 private:
  explicit kernel_timer(int descriptor) : descriptor_(descriptor) {}
  const int descriptor_;
};

/// Ends the sleep of one thread at a set time, or at once.
///
/// Whoever brings work while the sleeper has nothing to do sets the alarm instead of waking it: the
/// sleeper would only wait and see whether somebody polls, and most work is over before that. It
/// costs a fraction of a wake-up, and a program whose messages are short is not disturbed.
/// Threads:  any set and ring; one sleeps.
/// Progress: `set` and `ring` never wait. A time is replaced by the next one; a ring never gets
///           lost: the sleep under way ends, or the next one does not begin. A `set` that follows a
///           ring may put it off to its own time, no later.
template <class Timer = kernel_timer, template <class> class Atomic = base::atomic>
class basic_alarm {
  // The ringer writes (R) and then sets the timer to now; the sleeper sets the timer to its own
  // time and then reads (S). Both are seq_cst: either (S) sees the ring, or the ringer's setting
  // comes after the sleeper's and is the one that counts. Whoever takes a ring back at (S) or (T)
  // sees what was written before it, and looks at it now.
  // Checked by: tests/model/alarm_model.cpp.
 public:
  explicit basic_alarm(Timer& timer) : timer_(timer) {}

  void set(std::uint64_t in_ns) noexcept { timer_.set(in_ns); }
  void ring() noexcept {
    rung_.store(1, std::memory_order_seq_cst);  // (R)
    timer_.set(1);
  }
  /// Until the alarm goes off, which somebody else sets.
  void sleep() noexcept {
    if (rung_.exchange(0, std::memory_order_seq_cst) != 0) return;  // (S)
    timer_.wait();
    rung_.exchange(0, std::memory_order_seq_cst);  // (T)
  }
  void sleep_for(std::uint64_t for_ns) noexcept {
    set(for_ns);
    sleep();
  }

 private:
  Timer& timer_;
  Atomic<std::uint32_t> rung_{0};
};

using thread_alarm = basic_alarm<>;

}  // namespace headway::progress
