#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "base/clock.hpp"
#include "progress/core/engine_counters.hpp"
#include "progress/waiting/thread_record.hpp"
#include "topology/machine.hpp"

namespace headway::progress {

/// Compares the number of threads that want processors with the number of processors; decides how
/// waits behave.
/// Threads:  every function any thread, except `sample`: one at a time. All answers are hints, so
///           every access is relaxed.
/// Progress: queries are loads, `begin_watch` and `end_watch` an atomic addition; `sample` takes
///           about 10 us, ten times a second; `check_delay` about 4 us, twenty times a second for
///           each waiting thread.
class load_estimate {
 public:
  load_estimate(engine_counters& counted, base::clock clock) noexcept
      : counted_(counted), clock_(clock) {}

  /// More threads want processors than there are.
  [[nodiscard]] bool oversubscribed() const noexcept {
    return oversubscribed_.load(std::memory_order_relaxed);
  }
  /// The ranks of this job alone outnumber the processors.
  [[nodiscard]] bool more_ranks_than_processors() const noexcept {
    return more_ranks_.load(std::memory_order_relaxed);
  }
  /// Oversubscribed, but not by our own ranks: computing threads want the processors.
  [[nodiscard]] bool oversubscribed_by_others() const noexcept {
    return oversubscribed() && !more_ranks_than_processors();
  }

  /// Several threads of this process waited for messages in the last 0.3 s: if one of them is given
  /// preference, the others lack its processor.
  [[nodiscard]] bool several_wait(std::uint64_t now_ns) const noexcept {
    return now_ns < several_wait_until_ns_.load(std::memory_order_relaxed);
  }
  /// Another thread waits, too. Remembered for a while, so that it is not written for each wait.
  void note_several_wait(std::uint64_t now_ns) noexcept {
    if (several_wait_until_ns_.load(std::memory_order_relaxed) < now_ns + several_lasts_ns / 2)
      several_wait_until_ns_.store(now_ns + several_lasts_ns, std::memory_order_relaxed);
  }

  /// A processor is free for one more thread of this process that waits awake.
  [[nodiscard]] bool may_watch() const noexcept {
    return watches_.load(std::memory_order_relaxed) < watches_max_.load(std::memory_order_relaxed);
  }
  /// The same, and the calling thread counts as one that waits awake until `end_watch`, which
  /// follows if this returned true.
  [[nodiscard]] bool begin_watch() noexcept {
    if (watches_.fetch_add(1, std::memory_order_relaxed) <
        watches_max_.load(std::memory_order_relaxed))
      return true;
    end_watch();
    return false;
  }
  void end_watch() noexcept { watches_.fetch_sub(1, std::memory_order_relaxed); }

  /// Compares threads that want to run with processors. `spare_poller_runs`: one of those threads
  /// is ours, and yields to any other.
  void sample(const topology::machine& machine, int processes_on_node,
              bool spare_poller_runs) noexcept;
  /// A waiting thread has read the clock: checks whether it recently lost processor time to other
  /// threads. That is oversubscription, too, whatever its cause.
  void check_delay(thread_record& me, std::uint64_t now_ns) noexcept {
    if (now_ns >= me.delay_due_ns) [[unlikely]]
      measure_delay(me, now_ns);
  }

 private:
  static constexpr std::uint64_t several_lasts_ns = 300'000'000;
  void measure_delay(thread_record& me, std::uint64_t now_ns) noexcept;

  engine_counters& counted_;
  const base::clock clock_;
  base::atomic<bool> oversubscribed_{false};
  base::atomic<bool> more_ranks_{false};
  base::atomic<std::uint64_t> several_wait_until_ns_{0};
  base::atomic<std::uint64_t> delayed_until_ns_{0};  ///< until then a delay counts
  base::atomic<int> samples_in_a_row_{0};            ///< with too many runnable threads
  base::atomic<int> watches_max_{0};                 ///< processors that are free for this process
  base::atomic<int> watches_{0};                     ///< threads that watch now, or ask
};

}  // namespace headway::progress
