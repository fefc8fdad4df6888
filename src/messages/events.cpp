#include "messages/events.hpp"

namespace headway::messages::events {

base::event_type unexpected{
    "messages.unexpected",
    {"source", "tag", "bytes", "context"},
    "a message, or the request to send of a large one, arrived before a receive for it was posted"};

base::event_type eager_window_full{
    "messages.eager_window_full",
    {"destination", "tag", "bytes"},
    "a short message was sent like a large one, because the receiver holds as many bytes without a "
    "receive as it has room for (HEADWAY_EAGER_PEER)"};

}  // namespace headway::messages::events
