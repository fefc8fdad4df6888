// The user's settings; settings.hpp has them as values.
#include "base/tunable.hpp"
#include "progress/core/meter.hpp"
#include "watch/settings.hpp"

namespace headway::watch {
namespace {

base::number_tunable stats{
    "HEADWAY_STATS",
    "",
    0,
    0,
    3,
    "what each process counts and times: 0 little, and shows nothing; 1 more, shown by `headway "
    "top` and in a table of each process at the end; 2 the same without the tables; 3 with one "
    "summary of the "
    "job instead, and time by function of MPI"};

base::text_tunable trace_path{
    "HEADWAY_TRACE", "", "a file",
    "where the processes of a machine write their timeline together, for Perfetto; empty: none"};

base::number_tunable trace_events{
    "HEADWAY_TRACE_EVENTS",
    "",
    65'536,
    16,
    1 << 24,
    "entries of a thread's timeline, 64 bytes each; later ones are dropped and counted"};

}  // namespace

settings settings::from_environment() {
  return {.statistics = static_cast<statistics_mode>(stats.get()),
          .trace_file = trace_path.get(),
          .trace_entries = static_cast<std::size_t>(trace_events.get())};
}

void switch_on_meters(const settings& chosen) {
  if (!chosen.counts() && !chosen.traces()) return;
  progress::meter::switch_on(chosen.traces() ? chosen.trace_entries : 0);
}

}  // namespace headway::watch
