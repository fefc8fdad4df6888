#pragma once

#include "base/atomic.hpp"

namespace headway::endpoints {

/// Whether somebody is on his way to look at something, so that others need not send him again.
/// Shape:    one flag.
/// Threads:  `call` any; `answer` the one who was sent, before he looks.
/// Progress: never waits.
template <template <class> class Atomic = base::atomic>
class basic_errand {
  // Hazard: who calls finds another's call not answered yet, and what he left is not seen. Edge:
  // (C) release -> (W) acquire. Both change the same word: a call that is not answered by this (W)
  // comes after it, and finds that somebody has to be sent.
  // Checked by: tests/model/errand_model.cpp.
 public:
  /// After something was left to be looked at. True: somebody must be sent.
  [[nodiscard]] bool call() noexcept {
    return !called_.exchange(true, std::memory_order_acq_rel);  // (C); acquire: what he sent did
  }
  void answer() noexcept { called_.exchange(false, std::memory_order_acq_rel); }  // (W)

 private:
  Atomic<bool> called_{false};
};

}  // namespace headway::endpoints
