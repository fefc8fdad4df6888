#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::progress {

/// How many members were taken out of a submission queue and have not run yet. Together with that
/// queue it says whether anything waits for a round, without a count that submitters and rounds
/// would share.
/// Shape:    one word.
/// Threads:  `any` any thread, after it has found the queue empty; the others the popper, whose
///           hand-over synchronises (a mask, say).
/// Progress: never waits; plain loads and stores.
template <template <class> class Atomic = base::atomic>
class basic_taken_count {
  // Hazard, and the edge that removes it:
  //   a member leaves the queue, and   `taking` comes before (T') of base/mpsc_queue.hpp, which
  //     is not yet counted here        releases it to (B'), by which the queue was found empty
  // So a member that was pushed is seen in the queue or here until it has run. It may be seen a
  // little longer.
  // Checked by: tests/model/taken_count_model.cpp.
 public:
  /// Counts one in advance, as it is not known yet whether there is one; `took` corrects it.
  void taking() noexcept { set(count() + 1); }
  void took(std::uint32_t members) noexcept { set(count() - 1 + members); }
  /// One of them was taken back from the popper before its run.
  void withdrawn() noexcept { set(count() - 1); }
  void all_ran() noexcept { set(0); }

  /// Relaxed: (B') has made it visible; it carries nothing of what a run did.
  [[nodiscard]] std::uint32_t count() const noexcept {
    return word_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool any() const noexcept { return count() != 0; }

 private:
  void set(std::uint32_t count) noexcept { word_.store(count, std::memory_order_relaxed); }

  Atomic<std::uint32_t> word_{0};
};

}  // namespace headway::progress
