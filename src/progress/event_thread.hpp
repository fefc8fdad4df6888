#pragma once

#include <cstdint>
#include <thread>

#include "base/atomic.hpp"
#include "progress/engine_core.hpp"

namespace headway::progress {

/// The event thread: progress while every thread of the program computes.
///
/// quiet     nothing is pending, or a waiting thread guards: sleeps until it is told otherwise
/// attended  somebody polled since the last look: sleeps, looks again later and later
/// watching  something is pending and nobody polls: guards, and polls when an event wakes it
///
/// While attended it is not the guard, so sources are not armed and messages cost their senders no
/// wake-up. The price is the look: the first takes place 50 us after the last poll that it noticed.
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
  void poll_until_idle(thread_record& me) noexcept;
  void pause(std::uint64_t for_ns) noexcept;
  void doze() noexcept;
  [[nodiscard]] std::uint64_t longest_pause() const noexcept;

  engine_core& core_;
  base::atomic<std::uint32_t> stop_{0};
  // What follows is the thread's own.
  std::uint64_t pause_ns_;
  std::uint64_t rounds_seen_ = 0;  ///< explicit rounds of the root at the last look
  std::uint32_t starts_seen_ = 0;
  int idle_looks_ = 0;
  std::thread thread_;  // last: it uses all the others
};

}  // namespace headway::progress
