#pragma once

#include <string>
#include <string_view>

namespace headway::base {

/// `text` as a JSON string, with its quotes. It may stand inside an HTML script element.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace headway::base
