#pragma once

#include <string>

#include "report/merge.hpp"

namespace headway::report {

/// Time by function of MPI and the counters of the ranks as tables: least, median and greatest
/// value over the ranks, and in which rank.
[[nodiscard]] std::string summary_text(const summary& job);

}  // namespace headway::report
