#pragma once

#include <cstdint>
#include <thread>

#include "base/atomic.hpp"
#include "progress/engine_core.hpp"

namespace headway::progress {

/// The event thread: progress while every thread of the program computes.
///
/// quiet     nothing is pending, or a waiting thread guards: sleeps until it is told otherwise.
///           What begins after a long sleep is watched at once, what begins sooner looked at later
/// attended  somebody polled since the last look: sleeps, looks again later and later
/// watching  something is pending and nobody polls: guards, and polls when an event wakes it
///
/// In a real-time class (HEADWAY_EVENT_CLASS) it may take a fifth of each tenth of a second; once
/// that is used up it is an ordinary thread until the next one begins, so that an ltask that never
/// comes to rest cannot take the machine.
///
/// While attended it is not the guard, so sources are not armed and messages cost their senders no
/// wake-up. The price is the look: the first takes place 50 us after the last poll that it noticed,
/// and setting the kernel's timer for it may cost more than a wake-up does, on a virtual machine.
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
  void mind_budget(std::uint64_t began_ns) noexcept;
  void pause(std::uint64_t for_ns) noexcept;
  [[nodiscard]] bool rest() noexcept;
  [[nodiscard]] bool is_crowded() const noexcept {
    return core_.crowded.load(std::memory_order_relaxed);
  }
  void doze() noexcept;
  [[nodiscard]] std::uint64_t longest_pause() const noexcept;

  engine_core& core_;
  base::atomic<std::uint32_t> stop_{0};
  // What follows is the thread's own.
  std::uint64_t pause_ns_;
  std::uint64_t rounds_seen_ = 0;      ///< explicit rounds of the root at the last look
  std::uint32_t beats_seen_ = 0;       ///< of the spare poller, likewise
  std::uint64_t moved_ns_ = 0;         ///< when something advanced last
  std::uint64_t window_began_ns_ = 0;  ///< of the budget in a real-time class …
  std::uint64_t window_used_ns_ = 0;   ///< … and what of it is used up
  bool real_time_ = false;
  bool demoted_ = false;
  std::uint32_t starts_seen_ = 0;
  int idle_looks_ = 0;      ///< in a row that found nothing, and nothing that had begun
  bool was_woken_ = false;  ///< from a short rest, and has not looked since
  int woken_in_vain_ = 0;   ///< in a row: when we looked, it was over
  bool idle_ = false;       ///< nothing for us, and it looks as if it stayed so
  std::thread thread_;      // last: it uses all the others
};

}  // namespace headway::progress
