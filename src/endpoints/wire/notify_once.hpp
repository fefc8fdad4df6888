#pragma once

#include "base/atomic.hpp"

namespace headway::endpoints {

/// Coalesces notifications: only the first notifier since the last `answer` has to signal.
/// Shape:    one flag.
/// Threads:  `call` any; `answer` the notified thread, before it looks for work.
/// Progress: never waits.
template <template <class> class Atomic = base::atomic>
class basic_notify_once {
  // Hazard: a notifier finds an earlier notification unanswered, does not signal, and its work is
  // overlooked. Edge: (C) release -> (W) acquire. Both change the same word: a call that is not
  // answered by this (W) comes after it, and signals.
  // Checked by: tests/model/notify_once_model.cpp.
 public:
  /// After the work is visible. True: the caller must signal.
  [[nodiscard]] bool call() noexcept {
    return !called_.exchange(
        true, std::memory_order_acq_rel);  // (C); acquire: what the notified thread did
  }
  void answer() noexcept { called_.exchange(false, std::memory_order_acq_rel); }  // (W)

 private:
  Atomic<bool> called_{false};
};

}  // namespace headway::endpoints
