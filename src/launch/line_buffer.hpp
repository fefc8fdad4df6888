#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headway::launch {

/// Bytes of a stream, handed out as whole lines or as counted blocks.
/// Shape:    holds what was appended and not yet taken; a line longer than `line_bytes_max` is
///           never handed out, `overlong` tells.
/// Errors:   none; "not all here yet" is the empty answer.
class line_buffer {
 public:
  explicit line_buffer(std::size_t line_bytes_max) : line_bytes_max_(line_bytes_max) {}

  /// Ends the life of every view handed out so far.
  void append(std::string_view bytes);
  /// The next line without its newline.
  [[nodiscard]] std::optional<std::string_view> take_line();
  /// The next `count` bytes, whatever they are.
  [[nodiscard]] std::optional<std::string_view> take_bytes(std::size_t count);
  /// The stream's next line is too long, or will be: nothing sensible can follow.
  [[nodiscard]] bool overlong() const;
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size() - taken_; }

 private:
  std::string bytes_;
  std::size_t taken_ = 0;
  std::size_t line_bytes_max_;
};

}  // namespace headway::launch
