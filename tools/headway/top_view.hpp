#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/headway/top_counts.hpp"
#include "tools/headway/top_table.hpp"
#include "watch/page.hpp"

namespace headway::tool {

/// What a user asks for by a key.
enum class command : std::uint8_t {
  none,
  up,
  down,
  page_up,
  page_down,
  first,
  last,
  left,
  right,
  reverse,
  open,
  help,
  leave,  ///< a page, or the program: `q`
  back,   ///< from a page
};

enum class style : std::uint8_t { plain, title, heading, job, selected, note };

/// A line of the screen; the columns from `mark` on stand out.
struct screen_line {
  std::string text;
  style how = style::plain;
  std::size_t mark = 0, mark_length = 0;
};

/// What `headway top` shows, and how it answers keys: the jobs, their ranks, the tables of one
/// process, a page of help. It knows neither the terminal nor where the numbers come from.
/// Shape:    a screen of any size; from 60 columns on nothing is cut off.
/// Threads:  one.
class top_view {
 public:
  /// What a look at the processes found.
  void update(std::vector<process_line> processes, std::vector<std::string> faults);
  /// Whose tables are open, and what they are now; nothing if the process has ended.
  [[nodiscard]] std::optional<page_key> opened() const noexcept;
  void update_tables(const std::optional<watch::page_image>& image);

  void press(command wanted);
  [[nodiscard]] bool ended() const noexcept { return ended_; }

  /// At most `height` lines of at most `width` characters, all of printable ASCII.
  [[nodiscard]] std::vector<screen_line> draw(std::size_t width, std::size_t height);

 private:
  enum class page : std::uint8_t { ranks, tables, help };

  void press_on_ranks(command wanted);
  void press_on_text(command wanted);
  void move_to(std::size_t row);
  void sort_ranks();
  void change_column(int by);
  [[nodiscard]] std::size_t selected_row() const;
  void draw_ranks(std::vector<screen_line>& screen, std::size_t width, std::size_t height);
  void draw_jobs(std::vector<screen_line>& screen, const table_shape& shape,
                 std::size_t lines_max) const;
  void draw_text(std::vector<screen_line>& screen, const std::vector<screen_line>& lines,
                 std::size_t height);
  [[nodiscard]] std::vector<screen_line> tables(std::size_t width) const;

  std::vector<job_line> jobs_;
  std::vector<ranked> ranks_;
  std::vector<std::string> faults_;
  std::optional<watch::page_image> image_;

  page page_ = page::ranks;
  bool ended_ = false;
  column sorted_by_ = column::rank;
  bool reversed_ = false;
  std::optional<page_key> selected_;
  std::size_t row_ = 0;         // of the selected process when it was last seen
  std::size_t first_row_ = 0;   // of the ranks on the screen
  std::size_t first_line_ = 0;  // of the tables or the help on the screen
  std::size_t body_height_ = 1;
};

}  // namespace headway::tool
