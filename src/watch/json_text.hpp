#pragma once

#include <string>
#include <string_view>

namespace headway::watch {

/// A name of a thread, queue or ltask for a JSON string: characters that JSON would need escaped
/// become blanks.
[[nodiscard]] inline std::string json_text(std::string_view name) {
  std::string text(name);
  for (auto& c : text)
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') c = ' ';
  return text;
}

}  // namespace headway::watch
