#include "packets/events.hpp"

namespace headway::packets::events {

base::event_type rail_lost{
    "packets.rail_lost",
    {"peer", "rail"},
    "one of several rails to a peer no longer carries anything; what it had is sent again"};

base::event_type rail_returned{"packets.rail_returned",
                               {"peer", "rail"},
                               "a rail to a peer that was lost carries packets again"};

base::event_type peer_lost{
    "packets.peer_lost", {"peer"}, "a process counts as failed: operations with it end in errors"};

}  // namespace headway::packets::events
