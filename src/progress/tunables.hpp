#pragma once

#include "base/tunable.hpp"

namespace headway::progress {

extern base::choice_tunable progress_points;
extern base::choice_tunable wait_policy;
extern base::number_tunable spin_us;
extern base::choice_tunable wait_weight;
extern base::number_tunable yield_us;
extern base::number_tunable timer_us;
extern base::number_tunable idle_us;
extern base::number_tunable idle_calm_us;
extern base::number_tunable idle_slowdown;
extern base::choice_tunable idle_level;
extern base::choice_tunable idle_places;
extern base::choice_tunable event_class;
extern base::choice_tunable lock_mode;
extern base::choice_tunable offload;
extern base::number_tunable stats;
extern base::text_tunable trace_file;
extern base::number_tunable trace_events;

}  // namespace headway::progress
