#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "base/atomic.hpp"
#include "progress/background/turn_roster.hpp"
#include "progress/core/engine_core.hpp"

namespace headway::progress {

/// The event thread: progress while every thread of the program computes.
///
/// quiet     nothing is pending, or a waiting thread is the kernel sleeper: sleeps until woken.
///           What begins after a long sleep is watched at once, what begins sooner at a later look
/// parked    nothing is pending, but was a moment ago: sleeps on event sources that are not armed.
///           A thread that starts something arms them, without a wake-up (parking.hpp)
/// attended  another thread polled since the last look: sleeps, looks less and less often
/// watching  something is pending and no thread polls: sleeps on the event sources, and polls when
///           one wakes it
///
/// In a real-time class (HEADWAY_EVENT_CLASS) it may use 20 ms of each 100 ms; for the rest of
/// these it is an ordinary thread, so that an ltask that always advances cannot take over the
/// machine.
///
/// While attended it is not the kernel sleeper, so sources are not armed and messages cost their
/// senders no wake-up. The price is the look: the first one takes place 50 us after the last poll
/// seen, 1 ms among more ranks than processors, and on a virtual machine setting the timer may cost
/// more than a wake-up.
///
/// Among computing threads it has helpers. The kernel gives each thread the share of a computing
/// thread, keeps the unused part of it while the thread sleeps, and runs a thread with such a
/// balance as soon as it is woken. A thread that becomes runnable without needing the processor
/// (`earn`) collects a balance. So one thread works for a few milliseconds of processor time, hands
/// the work over to a helper with a balance, and collects anew. Helpers are started when they are
/// first needed.
///
/// If the kernel does not give waiting threads a greater weight
/// (`engine_core::event_threads_serve`), waiting threads spin briefly and then leave polling to the
/// event threads. From then on, until no thread has done so for a while, no queue counts as
/// attended.
/// Threads:  its own, started by the constructor, and helpers, started by the first thread; the
///           destructor ends all.
class event_thread {
 public:
  explicit event_thread(engine_core& core);
  ~event_thread();
  event_thread(const event_thread&) = delete;
  event_thread& operator=(const event_thread&) = delete;

 private:
  enum class finding : std::uint8_t { nothing, attended, unattended };

  void run() noexcept;
  void help(std::size_t seat) noexcept;
  /// Every turn of the seat, until all threads are to end.
  void take_turns(std::size_t seat) noexcept;
  void serve(bool has_earned) noexcept;
  void start_helpers();
  void earn(std::size_t seat) noexcept;
  [[nodiscard]] bool hands_over() noexcept;
  void let_woken_threads_run() const noexcept;
  [[nodiscard]] bool is_attended() const noexcept;
  [[nodiscard]] bool serves_waits() const noexcept {
    return core_.served_waits.load(std::memory_order_relaxed) != 0 ||
           core_.clock.now_ns() < core_.served_until_ns.load(std::memory_order_relaxed);
  }
  [[nodiscard]] finding look() noexcept;
  void watch(thread_record& me) noexcept;
  bool poll_until_idle(thread_record& me) noexcept;
  void call_spare_if_busy() noexcept;
  [[nodiscard]] bool spare_polls() const noexcept;
  void take_class() noexcept;
  void charge_budget(std::uint64_t began_ns) noexcept;
  void pause(std::uint64_t for_ns) noexcept;
  [[nodiscard]] bool rest() noexcept;
  [[nodiscard]] bool may_park() const noexcept;
  [[nodiscard]] quiet_sleep::unparked park() noexcept;
  [[nodiscard]] bool is_oversubscribed() const noexcept { return core_.load.oversubscribed(); }
  void doze() noexcept;
  [[nodiscard]] std::uint64_t first_pause() const noexcept;
  [[nodiscard]] std::uint64_t longest_pause() const noexcept;

  engine_core& core_;
  base::atomic<std::uint32_t> stop_{0};
  turn_roster turns_;
  // Written and read by the thread that has the turn; passed on by `turns_`:
  std::uint64_t turn_ends_ns_ = 0;   ///< in processor time of that thread
  std::optional<std::size_t> next_;  ///< the seat that has the next turn
  std::uint64_t pause_ns_;
  std::uint64_t rounds_seen_ = 0;      ///< explicit rounds of the root at the last look
  std::uint32_t beats_seen_ = 0;       ///< of the spare poller: the same
  std::uint64_t moved_ns_ = 0;         ///< when something advanced last
  std::uint64_t window_began_ns_ = 0;  ///< of the budget in a real-time class …
  std::uint64_t window_used_ns_ = 0;   ///< … and what of it is used up
  bool real_time_ = false;
  bool left_real_time_ = false;
  std::uint32_t starts_seen_ = 0;
  std::uint64_t looked_ns_ = 0;
  int idle_looks_ = 0;           ///< looks in a row that found nothing, and nothing new
  bool was_woken_ = false;       ///< from a short sleep, and has not looked since
  int woken_in_vain_ = 0;        ///< wake-ups in a row after which everything was over at the look
  bool idle_ = false;            ///< nothing to do, and nothing expected soon
  bool helpers_wanted_ = false;  ///< they have been started, if the kernel permitted it
  std::vector<std::thread> helpers_;  ///< written by the first thread, before the first hand-over
  std::thread thread_;                // last: it uses all the others
};

}  // namespace headway::progress
