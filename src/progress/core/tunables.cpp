// The user's settings; settings.hpp has them as values.
#include "base/tunable.hpp"
#include "progress/core/settings.hpp"

namespace headway::progress {
namespace {

// The lists of words have the order of the enumerators in settings.hpp.

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
    "shortest spin of a wait, twenty times that where only one thread may wait, and forty times "
    "that is the longest; about twice what waking a sleeping thread on another core costs"};

base::choice_tunable wait_weight{
    "HEADWAY_WAIT_WEIGHT",
    {"own", "greatest"},
    "greatest",
    "weight in the kernel's scheduler of a thread that sleeps in a wait while computing threads "
    "want every processor; greatest where permitted (CAP_SYS_NICE or RLIMIT_NICE), until the wait "
    "ends, and the event thread has three times its weight"};

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

base::number_tunable slowdown{
    "HEADWAY_IDLE_SLOWDOWN",
    "",
    2,
    1,
    1000,
    "what the pause of idle polling is multiplied by, each millisecond in which nothing moved or "
    "began; 1: never"};

base::choice_tunable level_choice{
    "HEADWAY_IDLE_LEVEL",
    {"machine", "package", "die", "l3", "core"},
    "core",
    "level of the machine at whose places idle pollers run, one for each place"};

base::choice_tunable places_choice{"HEADWAY_IDLE_PLACES",
                                   {"all", "first", "odd", "even"},
                                   "all",
                                   "which places of that level have an idle poller"};

base::choice_tunable event_thread_class{
    "HEADWAY_EVENT_CLASS",
    {"normal", "fifo", "rr"},
    "normal",
    "scheduling class of the event thread; real-time where permitted, and never more than a fifth "
    "of a processor's time"};

base::choice_tunable lock_mode{
    "HEADWAY_LOCKING",
    {"none", "coarse", "fine"},
    "fine",
    "none: one thread, nothing in the background; coarse: one lock around each call and polling "
    "round; fine: each queue its own. To measure what locking costs, as thread09 does"};

base::choice_tunable offload_choice{
    "HEADWAY_OFFLOAD",
    {"inline", "notify", "idle"},
    "inline",
    "which thread sends what a non-blocking call starts: the caller; a background thread that is "
    "told; or an idle poller that finds it (with HEADWAY_PROGRESS=idle)"};

std::uint64_t ns_of(const base::number_tunable& microseconds) {
  return static_cast<std::uint64_t>(microseconds.get()) * 1'000;
}

}  // namespace

settings settings::from_environment() {
  return {.points = static_cast<polling>(progress_points.index()),
          .waits = static_cast<waiting_policy>(wait_policy.index()),
          .greatest_weight = wait_weight.index() == 1,
          .locks = static_cast<locking>(lock_mode.index()),
          .offload = static_cast<offloading>(offload_choice.index()),
          .event_thread = static_cast<event_class>(event_thread_class.index()),
          .idle_level = static_cast<topology::level>(level_choice.index()),
          .idle_places = static_cast<placing>(places_choice.index()),
          .spin_ns = ns_of(spin_us),
          .yield_ns = ns_of(yield_us),
          .timer_ns = ns_of(timer_us),
          .idle_ns = ns_of(idle_us),
          .idle_calm_ns = ns_of(idle_calm_us),
          .idle_slowdown = static_cast<std::uint64_t>(slowdown.get())};
}

}  // namespace headway::progress
