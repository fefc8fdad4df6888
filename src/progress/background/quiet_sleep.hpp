#pragma once

#include <climits>
#include <cstdint>

#include "base/atomic.hpp"
#include "base/clock.hpp"
#include "base/futex.hpp"
#include "progress/background/kernel_sleeper.hpp"
#include "progress/background/parking.hpp"
#include "progress/core/engine_counters.hpp"
#include "progress/core/pending.hpp"
#include "progress/core/queue_tree.hpp"
#include "progress/os/boost_cache.hpp"
#include "progress/waiting/thread_record.hpp"

namespace headway::progress {

/// Where background threads sleep while they have nothing to do: without a time limit behind a
/// gate, or the event thread parked on the event sources (parking.hpp).
/// Threads:  `park` the holder of the kernel sleeper; the others any thread.
/// Progress: `tell` is a load while no thread sleeps here, and never waits.
class quiet_sleep {
 public:
  /// `full`: the ranks of the node compute on every processor.
  quiet_sleep(basic_pending<>& work, queue_tree& queues, kernel_sleeper& sleeper,
              boost_cache& boosted, engine_counters& counted, base::clock clock, bool full) noexcept
      : work_(work),
        queues_(queues),
        sleeper_(sleeper),
        boosted_(boosted),
        counted_(counted),
        clock_(clock),
        full_(full) {}

  /// No work for background threads, or a waiting thread sleeps on all event sources.
  [[nodiscard]] bool nothing_to_do() const noexcept {
    return (work_.balance() == 0 && !queues_.has_taken()) ||
           sleeper_.held_by() == kernel_sleeper::holder::application;
  }

  /// Call when work has come (`pending.started`, a submission, which `kick_sleeper` follows), or a
  /// waiting thread no longer sleeps on the event sources: wakes the threads that sleep here if
  /// there is now something for them, and arms the event sources for one that is parked.
  void tell() noexcept {
    if (gate_.closed()) [[unlikely]]
      tell_sleepers();
  }
  /// A thread is about to sleep on a word, and relies on background threads for everything that
  /// arrives. It counts as pending already.
  void rely() noexcept {
    relying_.fetch_add(1, std::memory_order_seq_cst);  // (R)
    // Sources that are not armed for the parked thread are armed for everything from now on.
    const bool armed_for_less = full_ && !parking_.none_armed();
    tell();
    if (armed_for_less) sleeper_.kick_sleeper();
  }
  /// Relaxed: seen late, it costs a wake-up.
  void rely_no_more() noexcept { relying_.fetch_sub(1, std::memory_order_relaxed); }
  /// Some thread sleeps, or is about to, for which `rely` was called. Relaxed: a hint.
  [[nodiscard]] bool is_relied_on() const noexcept {
    return relying_.load(std::memory_order_relaxed) != 0;
  }
  /// A thread can sleep beside the parked one (kernel_sleeper.hpp). A hint.
  [[nodiscard]] bool may_sleep_beside() const noexcept { return parking_.any(); }
  /// The calling thread attends, and is about to sleep there: the sources are armed for everything
  /// from now on.
  void rely_beside() noexcept { relying_.fetch_add(1, std::memory_order_seq_cst); }
  /// What a background thread that sleeps on the event sources has to be woken for. Where ranks
  /// compute on every processor, a wake-up takes a rank's processor, and a message that only has to
  /// be copied can as well be copied when its receiver waits: docs/decisions/0036. Unless a thread
  /// relies on background threads. After it sleeps, or is about to (K): with (R), one sees the
  /// other.
  [[nodiscard]] wake_for worth_waking_for() const noexcept {
    return full_ && relying_.load(std::memory_order_seq_cst) == 0 ? wake_for::hurried
                                                                  : wake_for::all;
  }
  [[nodiscard]] bool ranks_fill_node() const noexcept { return full_; }
  void wake_all() noexcept {
    if (gate_.open()) base::futex_wake(gate_.futex_word(), INT_MAX);
  }

  /// Sleeps until `tell` or the deadline, unless there is something to do or `stop` is set.
  void sleep(const base::atomic<std::uint32_t>& stop,
             std::uint64_t deadline_ns = base::no_deadline) noexcept;
  /// The same for the thread that gives boosts back (boost_cache.hpp): returns also when the next
  /// one is due.
  std::uint64_t sleep_until_boost_is_due(const base::atomic<std::uint32_t>& stop) noexcept;
  /// There is a new boost to give back.
  void tell_of_boost() noexcept {
    wake_all();
    sleeper_.kick_sleeper();
  }

  /// Why a thread is no longer parked.
  enum class unparked : std::uint8_t {
    armed,  ///< something is pending, and the event sources were armed for it
    busy,   ///< things have started in close succession: to arm for each costs more than to look
    other,  ///< a kick, a stop, work that is no event, or an outdated ring
    calm,   ///< nothing has started until the deadline
  };
  /// Sleeps on the event sources until the deadline, as long as there is nothing to do; then until
  /// one wakes it.
  [[nodiscard]] unparked park(const base::atomic<std::uint32_t>& stop,
                              std::uint64_t deadline_ns) noexcept;
  /// The calling thread polls from now on, or not any more: meanwhile no source wakes a parked
  /// thread. Each may be repeated. A thread that polls without this costs a wake-up.
  void attend(thread_record& me) noexcept {
    if (parking_.any() && !me.attends) [[unlikely]]
      begin_attending(me);
  }
  /// The same, also for a thread that parks later.
  void attend_ahead(thread_record& me) noexcept {
    if (!me.attends) begin_attending(me);
  }
  /// A thread polls that has called one of the two.
  [[nodiscard]] bool attended() const noexcept { return parking_.attended(); }
  /// How often threads have begun to attend. Relaxed: a hint.
  [[nodiscard]] std::uint32_t attendances() const noexcept {
    return attendances_.load(std::memory_order_relaxed);
  }
  /// The same for a thread that counts as pending and is about to sleep beside the parked one.
  /// False: there is work already; it attends again instead.
  [[nodiscard]] bool stop_attending_to_sleep(thread_record& me) noexcept;
  void stop_attending(thread_record& me) noexcept {
    if (me.attends) [[unlikely]]
      end_attending(me);
  }

 private:
  void sleep_behind_gate(std::uint32_t closed, const base::atomic<std::uint32_t>& stop,
                         std::uint64_t deadline_ns) noexcept;
  [[gnu::noinline]] void tell_sleepers() noexcept;
  void arm_for_parked() noexcept;
  [[nodiscard]] bool too_often() noexcept;
  [[gnu::noinline]] void begin_attending(thread_record& me) noexcept;
  [[gnu::noinline]] void end_attending(thread_record& me) noexcept;

  basic_pending<>& work_;
  queue_tree& queues_;
  kernel_sleeper& sleeper_;
  boost_cache& boosted_;
  engine_counters& counted_;
  const base::clock clock_;
  const bool full_;
  base::atomic<std::uint32_t> relying_{0};
  basic_gate<> gate_;
  base::atomic<std::uint32_t> behind_gate_{0};  ///< threads that sleep there, or are about to
  basic_parking<> parking_;
  base::atomic<std::uint32_t> attendances_{0};
  // Written by the thread that arms or parks, ordered by `parking_`:
  std::uint64_t armed_ns_ = 0;       ///< when that was last
  std::uint32_t in_succession_ = 0;  ///< armed so many times, each soon after the one before
};

}  // namespace headway::progress
