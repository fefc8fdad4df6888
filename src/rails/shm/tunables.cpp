#include "rails/shm/tunables.hpp"

namespace headway::rails::shm {
namespace {

const base::choice_tunable large{
    "HEADWAY_SHM_LARGE",
    {"auto", "ring", "cma"},
    "auto",
    "way of large payloads: through a ring, copied by both ends at once; by the kernel from one "
    "memory to the other, both ends half of it; or what is faster, by whichever end is awake"};

}  // namespace

const base::text_tunable directory{"HEADWAY_SHM_DIR", "/dev/shm", "a folder in memory",
                                   "where the segments and bells of shared memory are made"};
const base::number_tunable ring_bytes{
    "HEADWAY_SHM_RING",
    "bytes",
    0,
    0,
    1 << 24,
    "ring for small messages, for each peer; 0: by the number of processes"};
const base::number_tunable piece_bytes{"HEADWAY_SHM_PIECE",
                                       "bytes",
                                       0,
                                       0,
                                       1 << 20,
                                       "piece of a large payload; 0: by the number of processes"};
const base::number_tunable piece_count{
    "HEADWAY_SHM_PIECES",
    "",
    0,
    0,
    32,
    "buffers for pieces, for each peer; 0: by the number of processes"};

large_way chosen_large_way() { return static_cast<large_way>(large.index()); }

}  // namespace headway::rails::shm
