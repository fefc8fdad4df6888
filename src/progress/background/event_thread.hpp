#pragma once

#include <cstdint>
#include <thread>

#include "base/atomic.hpp"
#include "progress/core/engine_core.hpp"

namespace headway::progress {

/// The event thread: progress while every thread of the program computes.
///
/// quiet     nothing is pending, or a waiting thread is the kernel sleeper: sleeps until woken.
///           What begins after a long sleep is watched at once, what begins sooner at a later look
/// parked    sleeps on event sources that other threads arm and disarm (parking.hpp), and polls
///           when one wakes it. A thread that starts something arms them, without a wake-up; one
///           that waits disarms them while it polls, and may then sleep beside this one
/// attended  another thread polled since the last look, and this one cannot park: sleeps, looks
///           less and less often
/// watching  something is pending, no thread polls, and this one cannot park: sleeps on the event
///           sources, which it has armed, and polls when one wakes it
///
/// It parks where every source is silent unless it is armed, the machine is not oversubscribed, and
/// things do not start in so close a succession that arming costs more than looking.
///
/// In a real-time class (HEADWAY_EVENT_CLASS) it may use 20 ms of each 100 ms; for the rest of
/// these it is an ordinary thread, so that an ltask that always advances cannot take over the
/// machine.
///
/// While it looks by a timer it is not the kernel sleeper, so sources are not armed and messages
/// cost their senders no wake-up. The price is the look: the first one takes place 50 us after the
/// last poll seen, 1 ms among more ranks than processors, and on a virtual machine setting the
/// timer may cost more than a wake-up. A thread that has been in a round for up to 2 ms counts as
/// polling.
///
/// While a thread waits awake among computing threads and the kernel gives it no greater weight,
/// the event thread leaves the work to it: each look would end the turn that it has of the
/// processor. That thread ends the nap if it stops waiting while something is pending.
/// Threads:  its own, started by the constructor and ended by the destructor.
class event_thread {
 public:
  explicit event_thread(engine_core& core);
  ~event_thread();
  event_thread(const event_thread&) = delete;
  event_thread& operator=(const event_thread&) = delete;

 private:
  enum class finding : std::uint8_t {
    nothing,
    attended,
    waited_for,  ///< attended, by a thread that says when it stops: this one can park
    unattended,
  };
  enum class watching : std::uint8_t { parked, armed, ended };

  void run() noexcept;
  [[nodiscard]] bool is_attended() noexcept;
  [[nodiscard]] bool is_round_under_way(std::uint64_t now_ns) noexcept;
  [[nodiscard]] finding look() noexcept;
  void watch(thread_record& me) noexcept;
  [[nodiscard]] watching watch_parked(thread_record& me) noexcept;
  [[nodiscard]] watching watch_armed(thread_record& me) noexcept;
  [[nodiscard]] bool poll_after_sleep(thread_record& me, bool slept) noexcept;
  [[nodiscard]] bool must_leave() const noexcept;
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
  void doze_while_one_waits() noexcept;
  [[nodiscard]] std::uint64_t first_pause() const noexcept;
  [[nodiscard]] std::uint64_t longest_pause() const noexcept;

  engine_core& core_;
  base::atomic<std::uint32_t> stop_{0};
  // Written and read by the thread itself:
  std::uint64_t pause_ns_;
  std::uint64_t rounds_seen_ = 0;      ///< explicit rounds of the root at the last look
  base::mask::ticket round_seen_ = 0;  ///< of the last thread that was in a round at a look
  std::uint64_t round_seen_ns_ = 0;    ///< when that round was seen first
  std::uint32_t beats_seen_ = 0;       ///< of the spare poller: the same
  std::uint64_t moved_ns_ = 0;         ///< when something advanced last
  std::uint64_t window_began_ns_ = 0;  ///< of the budget in a real-time class …
  std::uint64_t window_used_ns_ = 0;   ///< … and what of it is used up
  bool real_time_ = false;
  bool left_real_time_ = false;
  std::uint32_t starts_seen_ = 0;
  std::uint64_t looked_ns_ = 0;
  int idle_looks_ = 0;      ///< looks in a row that found nothing, and nothing new
  bool was_woken_ = false;  ///< from a short sleep, and has not looked since
  int woken_in_vain_ = 0;   ///< wake-ups in a row after which everything was over at the look
  bool idle_ = false;       ///< nothing to do, and nothing expected soon
  std::thread thread_;      // last: it uses all the others
};

}  // namespace headway::progress
