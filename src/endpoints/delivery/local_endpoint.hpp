#pragma once

#include "base/intrusive_list.hpp"
#include "endpoints/delivery/inbox.hpp"
#include "endpoints/delivery/message.hpp"

namespace headway::endpoints {

/// An end-point of this process, and the handler of its messages if it has one.
struct local_endpoint : base::list_hook<> {
  inbox box;
  handler by;             ///< written under both locks of the box
  bool runnable = false;  ///< in the dispatcher's list, or being run; under box.lock

  /// A message waits. True: the dispatcher must be notified, because there is a handler that is not
  /// runnable yet. Under box.lock.
  [[nodiscard]] bool becomes_runnable() noexcept HEADWAY_REQUIRES(box.lock) {
    if (!by.call || runnable) return false;
    return runnable = true;
  }
};

}  // namespace headway::endpoints
