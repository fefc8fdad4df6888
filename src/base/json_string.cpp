#include "base/json_string.hpp"

#include <fmt/format.h>

namespace headway::base {

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      out += {'\\', letter};
    } else if (code < 0x20 || letter == '<') {
      out += fmt::format("\\u{:04x}", code);
    } else {
      out += letter;
    }
  }
  return out + "\"";
}

}  // namespace headway::base
