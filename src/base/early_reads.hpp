#pragma once

#include <sys/uio.h>

#include <span>

#include "base/fence.hpp"

#ifdef HEADWAY_UNDER_TSAN
extern "C" {
// of ThreadSanitizer's runtime, which has no header for them
void __tsan_read_range(void* at, unsigned long bytes);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
}
#endif

namespace headway::base {

/// Tells ThreadSanitizer that these bytes are read when this is constructed, and that no read until
/// it is destroyed counts. For what is given to the kernel, and read once more afterwards: as soon
/// as the peer has all of it, it may reply, and the reply may allow that these bytes change. The
/// reader must not depend on what it reads then. (The runtime itself counts what `sendmsg` reads
/// only behind the call.)
/// Shape:    nothing without ThreadSanitizer.
/// Threads:  one; they may be nested.
/// Progress: never waits.
class early_reads {
 public:
  explicit early_reads([[maybe_unused]] std::span<const iovec> parts) noexcept {
#ifdef HEADWAY_UNDER_TSAN
    for (const auto& one : parts)
      if (one.iov_len > 0) __tsan_read_range(one.iov_base, one.iov_len);
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
#endif
  }
  ~early_reads() {
#ifdef HEADWAY_UNDER_TSAN
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
  }
  early_reads(const early_reads&) = delete;
  early_reads& operator=(const early_reads&) = delete;
};

}  // namespace headway::base
