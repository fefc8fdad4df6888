#pragma once

#include <sys/types.h>

#include <cstdint>
#include <thread>

#include "base/atomic.hpp"
#include "progress/core/engine_core.hpp"

namespace headway::progress {

/// The idle polling that `auto` adds where a processor is spare: one thread for the process, in the
/// kernel's idle class where permitted (scheduling.hpp), on any processor. The event thread calls
/// it when events come one after another; it polls without pause, so that its processor does not
/// halt and the next event costs no wake-up, and sleeps again a millisecond after the last one.
///
/// It measures itself whether the processor is spare: it loses the processor when another thread
/// wants it, in the idle class at once, and sees a gap on its clock. Then it withdraws, for longer
/// each time, and the event thread goes on alone. Nothing depends on it: a call that comes to
/// nothing costs the time until the event thread looks.
/// Threads:  its own, started and ended by the constructor and the destructor.
/// Source:   pioman15 (mechanisms 2 and 6), with a lease instead of a period.
class spare_poller {
 public:
  explicit spare_poller(engine_core& core);
  ~spare_poller();
  spare_poller(const spare_poller&) = delete;
  spare_poller& operator=(const spare_poller&) = delete;

 private:
  enum class ending : std::uint8_t { over, lost_processor };

  void run() noexcept;
  [[nodiscard]] ending spell(thread_record& me) noexcept;
  [[nodiscard]] bool stay_away_while_attended() noexcept;
  void withdraw() noexcept;
  void beat() noexcept;

  engine_core& core_;
  base::atomic<std::uint32_t> stop_{0};
  base::atomic<pid_t> kernel_thread_{0};
  // Written and read by its thread only:
  std::uint64_t rounds_seen_ = 0;
  std::uint64_t lifts_seen_ = 0;
  std::uint64_t backoff_ns_;
  std::thread thread_;  // last: it uses all the others
};

}  // namespace headway::progress
