#pragma once

#include "base/tunable.hpp"

namespace headway::endpoints {

extern base::number_tunable memory_bytes;
extern base::choice_tunable sharing;
extern base::choice_tunable checks;
extern base::number_tunable inline_bytes;
extern base::number_tunable pack_bytes;
extern base::number_tunable ahead_bytes;
extern base::number_tunable window;
extern base::number_tunable queue_max;
extern base::choice_tunable dispatch;

}  // namespace headway::endpoints
