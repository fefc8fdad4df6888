#pragma once

#include <sys/types.h>

#include <cstdint>
#include <thread>

#include "base/atomic.hpp"
#include "progress/core/engine_core.hpp"

namespace headway::progress {

/// The idle polling that `auto` adds when a processor is unused: one thread for the process, on any
/// processor, in the kernel's idle class where permitted (scheduling.hpp). The event thread calls
/// it when events come in quick succession. It then polls without pause, so that its processor does
/// not halt and the next event costs no wake-up, and sleeps again a millisecond after the last
/// event.
///
/// It detects by itself that the processor is wanted: another thread takes it away, at once from a
/// thread of the idle class, which shows as a gap on the clock. Then the poller withdraws, for
/// longer each time, and the event thread continues alone. A call that the poller misses costs only
/// the time until the event thread looks.
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
  // Used by its thread only:
  std::uint64_t rounds_seen_ = 0;
  std::uint64_t lifts_seen_ = 0;
  std::uint64_t backoff_ns_;
  std::thread thread_;  // last: it uses all others
};

}  // namespace headway::progress
