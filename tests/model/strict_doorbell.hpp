#pragma once

// A doorbell under Relacy, which has no membarrier: the word is `strict` from the start, so that
// both sides fence.

#include "relacy_atomic.hpp"
// After it, because it names the memory orders.
#include "rails/shm/basic_doorbell.hpp"

namespace headway::model {

struct strict_fences {
  static void full() { rl::atomic_thread_fence(rl::mo_seq_cst, $); }
  static void heavy() { RL_ASSERT(!"strict was clear"); }
  static void light() {}
};
using strict_doorbell = rails::shm::basic_doorbell<atomic, strict_fences>;

}  // namespace headway::model
