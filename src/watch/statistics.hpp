#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "watch/observer.hpp"
#include "watch/page.hpp"

namespace headway::watch {

/// Fills `image` with the counters of the process's threads, queues and rails.
/// Threads:  one at a time for each image.
void gather(const observed& what, std::uint64_t began_ns, page_image& image);

/// 1234567 as "1.23 M": three significant digits.
[[nodiscard]] std::string short_number(double value, std::string_view unit = "");
/// The name and the value of a cell for people: "longest wait" and "1.23 ms".
[[nodiscard]] std::string heading(std::string_view name);
[[nodiscard]] std::string cell_text(const page_cell& cell);

/// The image as tables of text.
[[nodiscard]] std::string statistics_text(const page_image& image);
/// The image as one JSON object.
[[nodiscard]] std::string statistics_json(const page_image& image);

}  // namespace headway::watch
