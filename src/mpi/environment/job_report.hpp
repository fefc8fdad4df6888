#pragma once

#include <string>

#include "report/settings.hpp"

/// What the processes have recorded of their calls becomes one page (HEADWAY_REPORT) or one summary
/// on standard error (HEADWAY_STATS=3).
/// Threads:  one at a time, as start and end of the library.
/// Errors:   a page that cannot be written is one line in the log of rank 0; no other effect.
namespace headway::mpi {

/// Begins the recording, if the settings ask for it. After the runtime has started.
void begin_report(const report::settings& wanted);
[[nodiscard]] bool records_calls() noexcept;
/// Collective over the job: rank 0 gets what the others have recorded, and writes the page. Waits
/// for them; a rank that is lost is left out.
void finish_report() noexcept;
/// The job ends before `finish_report`: writes what the calling thread has recorded.
void report_early_end(const std::string& why) noexcept;

}  // namespace headway::mpi
