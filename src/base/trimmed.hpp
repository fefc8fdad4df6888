#pragma once

#include <string_view>

namespace headway::base {

/// The text without such characters at its beginning and its end: a part of the same memory.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text,
                                                 std::string_view blanks) noexcept {
  const auto first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

}  // namespace headway::base
