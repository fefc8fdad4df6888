#include "tools/headway/top_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "watch/statistics.hpp"

namespace headway::tool {
namespace {

constexpr std::array help_text{
    "  Up Down PgUp PgDn Home End   another rank",
    "  Left Right, < >              sort by another column",
    "  r                            reverse the order",
    "  Enter                        all counters of the rank",
    "  ?, h                         this page",
    "  q                            leave the page, or headway top",
    "",
    "  IN/s OUT/s  bytes received and sent, in a second",
    "  OVERLAP     of these bytes, moved by the library's threads:",
    "              while the program was outside MPI",
    "  WAITING     of the time, in calls that had to wait: counted",
    "              when they end; several threads add up",
    "  PACKETS/s   received and sent, in a second",
    "  TOTAL       bytes since the program began",
    "  LIBRARY     of the time, work of the library's threads",
    "  AGE         since the program initialised Headway",
    "",
    "  Jobs show sums of their ranks, WAITING and LIBRARY the",
    "  mean of a rank. A rank that has written nothing for 5 s",
    "  (it is stopped, say) has no rates.",
    "  On a narrow screen some columns are left out.",
};

constexpr std::string_view keys_text = "? help  q quit ";

screen_line title_of(std::string text, std::size_t width) {
  const auto left = width > keys_text.size() ? width - keys_text.size() : 0;
  return {.text = fmt::format(" {:{}.{}}", text, left > 0 ? left - 1 : 0, left > 0 ? left - 1 : 0) +
                  std::string(keys_text),
          .how = style::title};
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::size_t less(std::size_t from, std::size_t by) noexcept { return from > by ? from - by : 0; }

/// The cells of a row side by side, in columns of one width.
void add_cells(std::vector<screen_line>& lines, const watch::page_row& row, std::size_t width) {
  constexpr std::size_t cell_width = 28, indent = 2;
  const auto in_line = std::max<std::size_t>(1, less(width, indent) / cell_width);
  std::string text;
  for (std::size_t i = 0; i < row.cell_count; ++i) {
    const auto& cell = row.cells[i];
    text += text.empty() ? std::string(indent, ' ') : "";
    text +=
        fmt::format("{:<15} {:>9}   ", watch::heading(cell.name.data()), watch::cell_text(cell));
    if ((i + 1) % in_line != 0 && i + 1 != row.cell_count) continue;
    lines.push_back({.text = std::exchange(text, {})});
  }
}

}  // namespace

void top_view::update(std::vector<process_line> processes, std::vector<std::string> faults) {
  jobs_ = jobs_of(processes);
  faults_ = std::move(faults);
  ranks_.clear();
  for (auto& process : processes) {
    const auto job = std::ranges::find(jobs_, process.counts.job, &job_line::job);
    ranks_.push_back({.process = std::move(process), .job_number = job->number});
  }
  const auto before = selected_;
  sort_ranks();
  if (page_ == page::tables && selected_ != before) page_ = page::ranks;  // it has ended
}

std::size_t top_view::selected_row() const {
  const auto at = std::ranges::find_if(
      ranks_, [&](const ranked& one) { return one.process.counts.page == selected_; });
  return static_cast<std::size_t>(at - ranks_.begin());
}

/// Sorted anew, the selected process stays selected; if it has ended, the one in its place is.
void top_view::sort_ranks() {
  sort_by(ranks_, sorted_by_, reversed_);
  const auto row = selected_row();
  move_to(row < ranks_.size() ? row : row_);
}

void top_view::move_to(std::size_t row) {
  row_ = std::min(row, less(ranks_.size(), 1));
  if (ranks_.empty()) selected_.reset();
  else selected_ = ranks_[row_].process.counts.page;
}

std::optional<page_key> top_view::opened() const noexcept {
  return page_ == page::tables ? selected_ : std::nullopt;
}

void top_view::update_tables(const std::optional<watch::page_image>& image) {
  image_ = image;
  if (!image_ && page_ == page::tables) page_ = page::ranks;
}

void top_view::press(command wanted) {
  if (wanted == command::help) {
    page_ = page::help;
    first_line_ = 0;
  } else if (page_ == page::ranks) {
    press_on_ranks(wanted);
  } else {
    press_on_text(wanted);
  }
}

void top_view::press_on_text(command wanted) {
  switch (wanted) {
    case command::up:
      first_line_ = less(first_line_, 1);
      break;
    case command::down:
      ++first_line_;  // `draw_text` keeps it within the text
      break;
    case command::page_up:
      first_line_ = less(first_line_, body_height_);
      break;
    case command::page_down:
      first_line_ += body_height_;
      break;
    case command::first:
      first_line_ = 0;
      break;
    case command::leave:
    case command::back:
      page_ = page::ranks;
      break;
    default:
      break;
  }
}

void top_view::press_on_ranks(command wanted) {
  switch (wanted) {
    case command::up:
      return move_to(less(row_, 1));
    case command::down:
      return move_to(row_ + 1);
    case command::page_up:
      return move_to(less(row_, body_height_));
    case command::page_down:
      return move_to(row_ + body_height_);
    case command::first:
      return move_to(0);
    case command::last:
      return move_to(less(ranks_.size(), 1));
    case command::left:
      return change_column(-1);
    case command::right:
      return change_column(1);
    case command::reverse:
      reversed_ = !reversed_;
      return sort_ranks();
    case command::open:
      if (selected_) page_ = page::tables;
      first_line_ = 0;
      return;
    case command::leave:
      ended_ = true;
      return;
    default:
      return;
  }
}

/// The next column, of those that the widest screen has.
void top_view::change_column(int by) {
  const auto last = static_cast<int>(column::program);
  const auto next = std::clamp(static_cast<int>(sorted_by_) + by, 0, last);
  sorted_by_ = static_cast<column>(next);
  reversed_ = false;
  sort_ranks();
}

void top_view::draw_jobs(std::vector<screen_line>& screen, const table_shape& shape,
                         std::size_t lines_max) const {
  screen.push_back({.text = heading_line(shape, true), .how = style::heading});
  const bool all = jobs_.size() <= lines_max;
  const auto shown = all ? jobs_.size() : lines_max - 1;
  for (std::size_t i = 0; i < shown; ++i)
    screen.push_back({.text = line_of(shape, jobs_[i]), .how = style::job});
  if (!all)
    screen.push_back({.text = fmt::format(" and {}", counted(jobs_.size() - shown, "more job")),
                      .how = style::note});
}

void top_view::draw_ranks(std::vector<screen_line>& screen, std::size_t width, std::size_t height) {
  constexpr std::size_t jobs_share = 3;   // of the screen's lines, at most one in three
  constexpr std::size_t frame_lines = 5;  // title, two headings, empty line, foot
  const auto shape = table_shape::fitting(width);
  screen.push_back(title_of(fmt::format("headway top: {}, {}", counted(jobs_.size(), "job"),
                                        counted(ranks_.size(), "rank")),
                            width));
  draw_jobs(screen, shape, std::max<std::size_t>(1, less(height, frame_lines) / jobs_share));
  screen.push_back({});
  const auto [mark, mark_length] = place_of(shape, sorted_by_);
  screen.push_back({.text = heading_line(shape, false),
                    .how = style::heading,
                    .mark = mark,
                    .mark_length = mark_length});
  body_height_ = std::max<std::size_t>(1, less(height, screen.size() + 1));
  if (row_ < first_row_) first_row_ = row_;
  if (row_ >= first_row_ + body_height_) first_row_ = row_ - body_height_ + 1;
  first_row_ = std::min(first_row_, less(ranks_.size(), body_height_));
  const auto end = std::min(ranks_.size(), first_row_ + body_height_);
  for (auto i = first_row_; i < end; ++i)
    screen.push_back({.text = line_of(shape, ranks_[i].process, ranks_[i].job_number),
                      .how = i == row_ ? style::selected : style::plain});
  auto foot = fmt::format(" {}-{} of {}, by {}{}", ranks_.empty() ? 0 : first_row_ + 1, end,
                          ranks_.size(), name_of(sorted_by_), reversed_ ? ", reversed" : "");
  if (ranks_.empty()) foot = " no process of yours runs with HEADWAY_STATS: waiting for one";
  else if (!faults_.empty()) foot += fmt::format("; {}", faults_.front());
  screen.resize(std::max(screen.size(), less(height, 1)));
  screen.push_back({.text = std::move(foot), .how = style::note});
}

void top_view::draw_text(std::vector<screen_line>& screen, const std::vector<screen_line>& lines,
                         std::size_t height) {
  body_height_ = std::max<std::size_t>(1, less(height, screen.size() + 1));
  first_line_ = std::min(first_line_, less(lines.size(), body_height_));
  const auto end = std::min(lines.size(), first_line_ + body_height_);
  screen.insert(screen.end(), lines.begin() + static_cast<std::ptrdiff_t>(first_line_),
                lines.begin() + static_cast<std::ptrdiff_t>(end));
  screen.resize(std::max(screen.size(), less(height, 1)));
  screen.push_back({.text = fmt::format(" lines {}-{} of {}; q goes back",
                                        lines.empty() ? 0 : first_line_ + 1, end, lines.size()),
                    .how = style::note});
}

std::vector<screen_line> top_view::tables(std::size_t width) const {
  std::vector<screen_line> lines;
  if (!image_) return lines;
  for (std::size_t i = 0; i < image_->row_count; ++i) {
    const auto& row = image_->rows[i];
    lines.push_back(
        {.text = fmt::format(" {} {}", row.kind.data(), row.name.data()), .how = style::heading});
    if (std::string_view(row.kind.data()) != "job") add_cells(lines, row, width);  // only a name
  }
  if (image_->rows_left_out != 0)
    lines.push_back({.text = fmt::format(" and {} more", image_->rows_left_out)});
  return lines;
}

std::vector<screen_line> top_view::draw(std::size_t width, std::size_t height) {
  std::vector<screen_line> screen;
  switch (page_) {
    case page::ranks:
      draw_ranks(screen, width, height);
      break;
    case page::tables: {
      const auto& of = ranks_[row_].process.counts;
      const auto rank = of.size == 0 ? "" : fmt::format("rank {} of {}, ", of.rank, of.size);
      screen.push_back(
          title_of(fmt::format("{}{} (process {})", rank, of.program, of.page.first), width));
      draw_text(screen, tables(width), height);
      break;
    }
    case page::help: {
      screen.push_back(title_of("headway top: keys and columns", width));
      std::vector<screen_line> lines;
      for (const auto* line : help_text) lines.push_back({.text = line});
      draw_text(screen, lines, height);
      break;
    }
  }
  screen.resize(std::min(screen.size(), height));
  for (auto& line : screen) line.text.resize(std::min(line.text.size(), width));
  return screen;
}

}  // namespace headway::tool
