// The user's settings; settings.hpp has them as values.
#include "base/tunable.hpp"
#include "report/settings.hpp"

namespace headway::report {
namespace {

base::text_tunable page_path{
    "HEADWAY_REPORT", "", "a file",
    "where rank 0 writes, when the job ends, an HTML page that explains where the time of "
    "communication went; empty: nothing is recorded"};

}  // namespace

settings settings::from_environment() {
  return {.file = page_path.get(), .summary = false, .traced_entries = 0};
}

}  // namespace headway::report
