#pragma once

#include <cstdint>
#include <thread>

#include "base/atomic.hpp"
#include "progress/core/engine_core.hpp"

namespace headway::progress {

/// The event thread: progress while every thread of the program computes.
///
/// quiet     nothing is pending, or a waiting thread is the kernel sleeper: sleeps until told.
///           What begins after a long sleep is watched at once, what begins sooner at a later look
/// attended  another thread polled since the last look: sleeps, looks less and less often
/// watching  something is pending and no thread polls: sleeps on the event sources, and polls when
///           one wakes it
///
/// In a real-time class (HEADWAY_EVENT_CLASS) it may use 20 ms of each 100 ms; then it is an
/// ordinary thread until the next 100 ms begin, so that an ltask that always advances cannot take
/// the machine.
///
/// While attended it is not the kernel sleeper, so sources are not armed and messages cost their
/// senders no wake-up. The price is the look: the first takes place 50 us after the last poll that
/// it noticed, and on a virtual machine setting the timer may cost more than a wake-up does.
/// Threads:  its own, started and ended by the constructor and the destructor.
class event_thread {
 public:
  explicit event_thread(engine_core& core);
  ~event_thread();
  event_thread(const event_thread&) = delete;
  event_thread& operator=(const event_thread&) = delete;

 private:
  enum class finding : std::uint8_t { nothing, attended, unattended };

  void run() noexcept;
  [[nodiscard]] finding look() noexcept;
  void watch(thread_record& me) noexcept;
  bool poll_until_idle(thread_record& me) noexcept;
  void call_spare_if_busy() noexcept;
  [[nodiscard]] bool spare_polls() const noexcept;
  void take_class() noexcept;
  void charge_budget(std::uint64_t began_ns) noexcept;
  void pause(std::uint64_t for_ns) noexcept;
  [[nodiscard]] bool rest() noexcept;
  [[nodiscard]] bool is_oversubscribed() const noexcept { return core_.load.oversubscribed(); }
  void doze() noexcept;
  [[nodiscard]] std::uint64_t longest_pause() const noexcept;

  engine_core& core_;
  base::atomic<std::uint32_t> stop_{0};
  // Written and read by its thread only:
  std::uint64_t pause_ns_;
  std::uint64_t rounds_seen_ = 0;      ///< explicit rounds of the root at the last look
  std::uint32_t beats_seen_ = 0;       ///< of the spare poller, likewise
  std::uint64_t moved_ns_ = 0;         ///< when something advanced last
  std::uint64_t window_began_ns_ = 0;  ///< of the budget in a real-time class …
  std::uint64_t window_used_ns_ = 0;   ///< … and what of it is used up
  bool real_time_ = false;
  bool left_real_time_ = false;
  std::uint32_t starts_seen_ = 0;
  int idle_looks_ = 0;      ///< in a row that found nothing, and nothing that had begun
  bool was_woken_ = false;  ///< from a short sleep, and has not looked since
  int woken_in_vain_ = 0;   ///< in a row: at the look all was over
  bool idle_ = false;       ///< nothing to do, and none is expected soon
  std::thread thread_;      // last: it uses all the others
};

}  // namespace headway::progress
