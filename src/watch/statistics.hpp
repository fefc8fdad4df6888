#pragma once

#include <cstdint>
#include <string>

#include "watch/observer.hpp"
#include "watch/page.hpp"

namespace headway::watch {

/// Fills `image` with what the process's threads, queues and rails have counted.
/// Threads:  one at a time per image.
void gather(const observed& what, std::uint64_t began_ns, page_image& image);

/// The tables of an image, to be read by people.
[[nodiscard]] std::string statistics_text(const page_image& image);
/// The same as one JSON object.
[[nodiscard]] std::string statistics_json(const page_image& image);

}  // namespace headway::watch
