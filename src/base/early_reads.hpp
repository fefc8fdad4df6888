#pragma once

#include <sys/uio.h>

#include <span>

#include "base/fence.hpp"

#ifdef HEADWAY_UNDER_TSAN
extern "C" {
// Exported by ThreadSanitizer's runtime; no header of it declares them.
void __tsan_read_range(void* at, unsigned long bytes);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
}
#endif

namespace headway::base {

/// For bytes that a thread gives to the kernel to be sent, and reads once more afterwards: when the
/// peer has received them it may reply, and another thread of this process that receives the reply
/// may change them. The second read may then see anything, and its result must not be used.
///
/// ThreadSanitizer checks the bytes when this object is made, and no access of the calling thread
/// until it is destroyed (decision 42). The runtime itself would check what `sendmsg` reads after
/// the call.
/// Shape:    nothing in builds without ThreadSanitizer.
/// Threads:  made and destroyed by the same one. Objects may be nested.
/// Progress: never waits.
/// Source:   the runtime's `__tsan_read_range` and dynamic annotations, which ignore writes too.
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
