#include "launch/tunables.hpp"

namespace headway::launch {

// 60 s: long enough for a cold start of hundreds of ranks from a slow file system, short enough
// that a person still waits for the message.
base::number_tunable start_timeout{"HEADWAY_START_TIMEOUT",
                                   "s",
                                   60,
                                   1,
                                   86'400,
                                   "longest wait for an answer of the launcher, and for all ranks "
                                   "to reach an exchange"};

}  // namespace headway::launch
