#include "progress/tunables.hpp"

#include "progress/engine.hpp"

namespace headway::progress {

base::choice_tunable progress_points{
    "HEADWAY_PROGRESS",
    {"off", "explicit", "timer", "idle", "event", "auto"},
    "auto",
    "background polling points; auto sleeps on events, with the timer where a rail cannot wake us, "
    "and polls on a spare processor while events come one after another"};

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

base::choice_tunable wait_weight{
    "HEADWAY_WAIT_WEIGHT",
    {"own", "greatest"},
    "greatest",
    "weight in the kernel's scheduler of a thread that sleeps in a wait while computing threads "
    "want every processor; greatest where permitted (CAP_SYS_NICE or RLIMIT_NICE), until the wait "
    "ends"};

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

base::number_tunable idle_calm_us{
    "HEADWAY_IDLE_CALM_US",
    "us",
    100,
    0,
    1'000'000,
    "longest pause between rounds of idle polling, reached while nothing moves for milliseconds"};

base::number_tunable idle_slowdown{
    "HEADWAY_IDLE_SLOWDOWN",
    "",
    2,
    1,
    1000,
    "what the pause of idle polling is multiplied by, each millisecond in which nothing moved or "
    "began; 1: never"};

base::choice_tunable idle_level{
    "HEADWAY_IDLE_LEVEL",
    {"machine", "package", "die", "l3", "core"},
    "core",
    "level of the machine at whose places idle pollers run, one for each place"};

base::choice_tunable idle_places{"HEADWAY_IDLE_PLACES",
                                 {"all", "first", "odd", "even"},
                                 "all",
                                 "which places of that level have an idle poller"};

base::choice_tunable event_class{
    "HEADWAY_EVENT_CLASS",
    {"normal", "fifo", "rr"},
    "normal",
    "scheduling class of the event thread; real-time where permitted, and never more than a fifth "
    "of a processor's time"};
base::number_tunable stats{
    "HEADWAY_STATS",
    "",
    0,
    0,
    2,
    "what each process counts and times: 0 little, and shows nothing; 1 more, shown by `headway "
    "top` and in a table at the end; 2 the same without the table"};

base::text_tunable trace_file{
    "HEADWAY_TRACE", "", "a file",
    "where the processes of a machine write their timeline together, for Perfetto; empty: none"};

base::number_tunable trace_events{
    "HEADWAY_TRACE_EVENTS",
    "",
    65'536,
    16,
    1 << 24,
    "entries of a thread's timeline, 64 bytes each; later ones are dropped and counted"};

base::choice_tunable lock_mode{
    "HEADWAY_LOCKING",
    {"none", "coarse", "fine"},
    "fine",
    "none: one thread, nothing in the background; coarse: one lock around each call and polling "
    "round; fine: each queue its own. To measure what locking costs, as thread09 does"};

base::choice_tunable offload{
    "HEADWAY_OFFLOAD",
    {"inline", "notify", "idle"},
    "inline",
    "who sends what a non-blocking call starts: the caller; a thread of ours that is told; or an "
    "idle poller that finds it (with HEADWAY_PROGRESS=idle)"};

locking locking_from_environment() { return static_cast<locking>(lock_mode.index()); }

offloading offloading_from_environment() { return static_cast<offloading>(offload.index()); }

polling polling_from_environment() { return static_cast<polling>(progress_points.index()); }

bool greatest_weight_from_environment() { return wait_weight.index() == 1; }

waiting_policy waiting_from_environment() {
  return static_cast<waiting_policy>(wait_policy.index());
}

}  // namespace headway::progress
