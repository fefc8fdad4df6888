#pragma once

#include <string>
#include <string_view>

namespace headway::tool {

/// `text` as a JSON string, with its quotes.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace headway::tool
