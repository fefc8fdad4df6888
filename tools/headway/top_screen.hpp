#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "tools/headway/top_view.hpp"

namespace headway::tool {

/// The terminal as a screen with keys and, where it has them, colours: ncurses.
/// Shape:    one in a process.
/// Threads:  one.
/// Progress: `wait_for_key` waits, and ends early when the terminal gets another size.
/// Errors:   `unsupported`: a terminal on which nothing can be placed (TERM).
class top_screen {
 public:
  [[nodiscard]] static base::result<top_screen> open();
  top_screen(top_screen&& other) noexcept;
  top_screen& operator=(top_screen&&) = delete;
  ~top_screen();

  [[nodiscard]] std::size_t width() const noexcept;
  [[nodiscard]] std::size_t height() const noexcept;
  void show(const std::vector<screen_line>& lines);
  /// `none` when none was pressed for so long, or one without a meaning.
  [[nodiscard]] command wait_for_key(double seconds_max);

 private:
  struct terminal;
  explicit top_screen(std::unique_ptr<terminal> made) noexcept;
  std::unique_ptr<terminal> terminal_;
};

}  // namespace headway::tool
