#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headway::tool {

/// The text in lines of at most so many columns (0: in one line), each begun with blanks; lines
/// after the first have four more. A word that is longer stands alone. Ends with the last line's
/// end.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns);

}  // namespace headway::tool
