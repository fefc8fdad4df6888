// The user's settings; settings.hpp has them as values.
#include "base/tunable.hpp"
#include "rails/shm/settings.hpp"

namespace headway::rails::shm {
namespace {

const base::choice_tunable large_choice{
    "HEADWAY_SHM_LARGE",
    {"auto", "ring", "cma", "get"},
    "auto",
    "way of large payloads: through a ring, copied by both ends at once; by the kernel from one "
    "memory to the other, both ends half of it (cma) or the receiver all of it (get); or what is "
    "faster, by whichever end is awake"};
const base::text_tunable folder{"HEADWAY_SHM_DIR", "/dev/shm", "a folder in memory",
                                "where the segments and bells of shared memory are made"};
const base::number_tunable ring{
    "HEADWAY_SHM_RING",
    "bytes",
    0,
    0,
    1 << 24,
    "ring for small messages, for each peer; 0: by the number of processes"};
const base::number_tunable piece{"HEADWAY_SHM_PIECE",
                                 "bytes",
                                 0,
                                 0,
                                 1 << 20,
                                 "piece of a large payload; 0: by the number of processes"};
const base::number_tunable pieces{
    "HEADWAY_SHM_PIECES",
    "",
    0,
    0,
    64,
    "buffers for pieces, for each peer; 0: by the number of processes"};

}  // namespace

settings settings::from_environment() {
  return {.directory = folder.get(),
          .ring_bytes = static_cast<std::uint32_t>(ring.get()),
          .piece_bytes = static_cast<std::uint32_t>(piece.get()),
          .piece_count = static_cast<std::uint32_t>(pieces.get()),
          .large = static_cast<large_way>(large_choice.index())};
}

}  // namespace headway::rails::shm
