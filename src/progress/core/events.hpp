#pragma once

#include "base/event_type.hpp"

/// What tools can observe of waiting threads.
namespace headway::progress::events {

extern base::event_type wait_slept;  ///< slept_ns

}  // namespace headway::progress::events
