#pragma once

#include "base/fence.hpp"

#ifdef HEADWAY_UNDER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace headway::base {

/// Tells ThreadSanitizer of an edge that another process carries: thread A releases a word in
/// shared memory, the other process acquires it and releases a second word in reply, which thread B
/// acquires. The runtime sees one process, so it misses that edge, and reports what A wrote before
/// as a race with what B does after. (It assumes the edge for sockets: from each write to each read
/// of a descriptor.)
/// Shape:    nothing without ThreadSanitizer.
/// Threads:  any. `leaves` before the word is released, `returns` after the reply was acquired. All
///           behind `returns` is taken to follow every earlier `leaves` of the object, so each
///           way out and back has its own.
/// Progress: never waits.
class process_edge {
 public:
#ifdef HEADWAY_UNDER_TSAN
  void leaves() noexcept { __tsan_release(&word_); }
  void returns() noexcept { __tsan_acquire(&word_); }

 private:
  char word_ = 0;
#else
  void leaves() noexcept {}
  void returns() noexcept {}
#endif
};

}  // namespace headway::base
