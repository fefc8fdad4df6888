#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headway::launch {

/// Splits a stream of bytes into lines.
/// Shape:    holds what was appended and not yet taken; a line longer than `line_bytes_max` is
///           never returned: see `overlong`.
/// Errors:   none; nothing is returned while a line is incomplete.
class line_buffer {
 public:
  explicit line_buffer(std::size_t line_bytes_max) : line_bytes_max_(line_bytes_max) {}

  /// Invalidates every view returned so far.
  void append(std::string_view bytes);
  /// The next line without its newline.
  [[nodiscard]] std::optional<std::string_view> take_line();
  /// The next line is longer than `line_bytes_max`, complete or not.
  [[nodiscard]] bool overlong() const;

 private:
  std::string bytes_;
  std::size_t taken_ = 0;
  std::size_t line_bytes_max_;
};

}  // namespace headway::launch
