#pragma once

#include <string>
#include <vector>

namespace headway::tool {

/// `headway report`: shows the pages of HEADWAY_REPORT. As `bench`, this process becomes a Python
/// program, ../share/headway/report/report.
int report(std::vector<std::string> words);

}  // namespace headway::tool
