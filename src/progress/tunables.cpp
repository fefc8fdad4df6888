#include "progress/tunables.hpp"

#include "progress/engine.hpp"

namespace headway::progress {

base::choice_tunable progress_points{
    "HEADWAY_PROGRESS",
    {"off", "explicit", "timer", "idle", "event", "auto"},
    "auto",
    "background polling points; auto sleeps on events, with the timer where a rail cannot wake us"};

base::choice_tunable wait_policy{
    "HEADWAY_WAIT",
    {"adaptive", "fixed", "busy", "block"},
    "adaptive",
    "how a wait spins before it sleeps; adaptive follows how long recent waits took"};

base::number_tunable spin_us{
    "HEADWAY_SPIN_US",
    "us",
    50,
    0,
    1'000'000,
    "longest spin of a wait; about twice what waking a sleeping thread on another core costs"};

base::number_tunable yield_us{
    "HEADWAY_YIELD_US",
    "us",
    1000,
    0,
    1'000'000,
    "longest wait by yielding when there are more processes than processors, before it sleeps"};

base::number_tunable timer_us{
    "HEADWAY_TIMER_US",
    "us",
    1000,
    50,
    1'000'000,
    "period of timer polling; 1 to 100 ms were indistinguishable to computation in pioman15"};

base::number_tunable idle_us{
    "HEADWAY_IDLE_US",
    "us",
    10,
    0,
    1'000'000,
    "pause between rounds of idle polling, 0 yields; up to 10 us no effect on latency in pioman15"};

polling polling_from_environment() { return static_cast<polling>(progress_points.index()); }

waiting_policy waiting_from_environment() {
  return static_cast<waiting_policy>(wait_policy.index());
}

}  // namespace headway::progress
