#pragma once

#include <string>
#include <vector>

#include "processes/process.hpp"
#include "progress/core/meter.hpp"
#include "watch/page.hpp"

namespace headway::packets {
class peers;
}  // namespace headway::packets

namespace headway::runtime {

/// What the rails of `peers` carried, and how much of it while no call waited.
void add_rail_rows(packets::peers& peers, const std::vector<progress::meter::report>& threads,
                   watch::page_image& image);

/// See `instance::rail_to`.
[[nodiscard]] std::string name_of_rail_to(const packets::peers& peers, processes::peer_id process);

}  // namespace headway::runtime
