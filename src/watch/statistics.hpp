#pragma once

#include <cstdint>
#include <string>

#include "watch/observer.hpp"
#include "watch/page.hpp"

namespace headway::watch {

/// Fills `image` with the counters of the process's threads, queues and rails.
/// Threads:  one at a time for each image.
void gather(const observed& what, std::uint64_t began_ns, page_image& image);

/// The image as tables of text.
[[nodiscard]] std::string statistics_text(const page_image& image);
/// The image as one JSON object.
[[nodiscard]] std::string statistics_json(const page_image& image);

}  // namespace headway::watch
