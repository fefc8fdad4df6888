#pragma once

#include <vector>

#include "progress/core/meter.hpp"
#include "watch/page.hpp"

namespace headway::runtime {

/// What the rails of `peers` (a packets::peers) carried, and how much of it while no call waited.
void add_rail_rows(void* peers, const std::vector<progress::meter::report>& threads,
                   watch::page_image& image);

}  // namespace headway::runtime
