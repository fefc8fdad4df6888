#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::progress {

/// How many members were taken out of a submission queue and have not run yet. Together with that
/// queue it tells whether anything waits for a round, without a count that submitters and rounds
/// would share.
/// Shape:    one word.
/// Threads:  `any` any thread, after it has found the queue empty; the others by the popper, of
///           which there is one at a time, under a mask, for example.
/// Progress: never waits; plain loads and stores.
template <template <class> class Atomic = base::atomic>
class basic_taken_count {
  // Hazard, and the edge that removes it:
  //   a member leaves the queue, and   `taking` comes before (T') of base/mpsc_queue.hpp, which
  //     is not yet counted here        releases it to (B'), by which the queue was found empty
  // So a member that was pushed is visible in the queue or here until it has run. It may remain
  // visible a little longer.
  // Checked by: tests/model/taken_count_model.cpp.
 public:
  /// Counts one in advance, before it is known whether there is one; `took` corrects it.
  void taking() noexcept { set(count() + 1); }
  void took(std::uint32_t members) noexcept { set(count() - 1 + members); }
  /// The popper gave one of them back before its run.
  void withdrawn() noexcept { set(count() - 1); }
  void all_ran() noexcept { set(0); }

  /// Relaxed: (B') has made it visible; it publishes nothing of what a run did.
  [[nodiscard]] std::uint32_t count() const noexcept {
    return word_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool any() const noexcept { return count() != 0; }

 private:
  void set(std::uint32_t count) noexcept { word_.store(count, std::memory_order_relaxed); }

  Atomic<std::uint32_t> word_{0};
};

}  // namespace headway::progress
