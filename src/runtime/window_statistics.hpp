#pragma once

#include "watch/page.hpp"
#include "windows/statistics.hpp"

namespace headway::runtime {

/// One-sided operations by way, and the requests served; a row that counted nothing is left out.
void add_window_rows(const windows::statistics& counts, watch::page_image& image);

}  // namespace headway::runtime
