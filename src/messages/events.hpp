#pragma once

#include "base/event_type.hpp"

/// What tools can observe of messages.
namespace headway::messages::events {

extern base::event_type unexpected;         ///< source, tag, bytes, context
extern base::event_type eager_window_full;  ///< destination, tag, bytes

}  // namespace headway::messages::events
