#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace headway::base {

/// The whole text as a number; nothing if it is none, or does not fit.
template <class Number>
[[nodiscard]] std::optional<Number> number_in(std::string_view text) noexcept {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Removes the first word and the blank behind it.
[[nodiscard]] inline std::string_view take_word(std::string_view& text) noexcept {
  const auto end = std::min(text.find(' '), text.size());
  const auto found = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return found;
}

/// Whether a text can be the rest of such a line: 1 to 255 bytes, none of them a control character.
[[nodiscard]] bool is_one_line(std::string_view text) noexcept;
/// The text as such a rest: control characters become blanks, what is too long is cut off, and
/// "unknown" stands for nothing.
[[nodiscard]] std::string one_line(std::string text);

/// The text with a checksum over it as its last line.
[[nodiscard]] std::string with_sum(std::string text);
/// The lines before the checksum.
/// Errors:   `bad_input`: there is none, or it is not that of the lines.
[[nodiscard]] result<std::string_view> without_sum(std::string_view text);

/// Parses a text of lines, each of which begins with a word that names it. Any bytes may be passed.
class line_reader {
 public:
  explicit line_reader(std::string_view text) noexcept : left_(text) {}

  /// The rest of the next line if it begins with this word; the line counts as read in any case.
  [[nodiscard]] std::optional<std::string_view> line(std::string_view name) noexcept {
    ++number_;
    const auto end = left_.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    auto text = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    if (!text.starts_with(name)) return std::nullopt;
    text.remove_prefix(name.size());
    if (text.empty()) return text;
    if (text[0] != ' ') return std::nullopt;
    return text.substr(1);
  }
  /// Whether the next line begins with this word. Reads nothing.
  [[nodiscard]] bool next_is(std::string_view name) const noexcept {
    return left_.starts_with(name) && left_.substr(name.size()).starts_with(' ');
  }
  [[nodiscard]] bool at_end() const noexcept { return left_.empty(); }
  /// Of the line that was read last, from 1 on.
  [[nodiscard]] std::size_t number() const noexcept { return number_; }

 private:
  std::string_view left_;
  std::size_t number_ = 0;
};

}  // namespace headway::base
