#include "packets/tunables.hpp"

namespace headway::packets {

base::number_tunable eager_memory_bytes{
    "HEADWAY_EAGER_MEMORY",
    "bytes",
    256 << 20,
    1 << 20,
    std::int64_t{1} << 40,
    "most memory that messages without a receive may take in a process; shared out evenly among "
    "its peers, who use rendezvous beyond their part"};

base::number_tunable eager_peer_bytes_max{"HEADWAY_EAGER_PEER",
                                          "bytes",
                                          1 << 20,
                                          1 << 12,
                                          1 << 30,
                                          "most of that memory for a single peer"};

}  // namespace headway::packets
