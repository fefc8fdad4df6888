#include "tools/headway/top_screen.hpp"

#define NCURSES_NOMACROS  // or it would replace names like `clear` and `move`
#include <curses.h>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <utility>

namespace headway::tool {
namespace {

struct colours {
  style of;
  short ink, paper;
};
constexpr short own = -1;  // the terminal's own colour
constexpr std::array palette{
    colours{style::title, COLOR_WHITE, COLOR_BLUE},
    colours{style::heading, COLOR_CYAN, own},
    colours{style::job, COLOR_GREEN, own},
    colours{style::selected, COLOR_BLACK, COLOR_CYAN},
    colours{style::note, COLOR_YELLOW, own},
};

short pair_of(style how) noexcept { return static_cast<short>(how); }

/// How a style looks where there are no colours.
attr_t attributes_of(style how) noexcept {
  switch (how) {
    case style::title:
    case style::selected:
      return has_colors() ? A_BOLD : A_REVERSE;
    case style::heading:
    case style::job:
      return A_BOLD;
    case style::plain:
    case style::note:
      break;
  }
  return A_NORMAL;
}

command command_of(int key) noexcept {
  constexpr int escape = 27;
  switch (key) {
    case KEY_UP:
    case 'k':
      return command::up;
    case KEY_DOWN:
    case 'j':
      return command::down;
    case KEY_PPAGE:
      return command::page_up;
    case KEY_NPAGE:
    case ' ':
      return command::page_down;
    case KEY_HOME:
    case 'g':
      return command::first;
    case KEY_END:
    case 'G':
      return command::last;
    case KEY_LEFT:
    case '<':
      return command::left;
    case KEY_RIGHT:
    case '>':
      return command::right;
    case 'r':
      return command::reverse;
    case KEY_ENTER:
    case '\n':
    case '\r':
      return command::open;
    case '?':
    case 'h':
      return command::help;
    case 'q':
      return command::leave;
    case escape:
      return command::back;
    default:
      return command::none;
  }
}

}  // namespace

struct top_screen::terminal {
  SCREEN* made = nullptr;
};

top_screen::top_screen(std::unique_ptr<terminal> made) noexcept : terminal_(std::move(made)) {}
top_screen::top_screen(top_screen&& other) noexcept = default;

base::result<top_screen> top_screen::open() {
  constexpr int escape_delay_ms = 50;
  auto made = std::make_unique<terminal>();
  made->made = newterm(nullptr, stdout, stdin);
  const auto unfit = [] {
    return base::failed(base::fault_kind::unsupported,
                        "the terminal (TERM) cannot show a screen; --once prints tables");
  };
  if (made->made == nullptr) return unfit();
  if (tigetstr("cup") == nullptr) {  // it cannot place its cursor
    endwin();
    delscreen(made->made);
    return unfit();
  }
  set_escdelay(escape_delay_ms);
  cbreak();
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  curs_set(0);
  if (has_colors()) {
    start_color();
    use_default_colors();
    for (const auto& one : palette) init_pair(pair_of(one.of), one.ink, one.paper);
  }
  return top_screen(std::move(made));
}

top_screen::~top_screen() {
  if (!terminal_) return;
  endwin();
  delscreen(terminal_->made);
}

std::size_t top_screen::width() const noexcept { return static_cast<std::size_t>(getmaxx(stdscr)); }
std::size_t top_screen::height() const noexcept {
  return static_cast<std::size_t>(getmaxy(stdscr));
}

void top_screen::show(const std::vector<screen_line>& lines) {
  werase(stdscr);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& line = lines[i];
    const auto row = static_cast<int>(i);
    mvwaddnstr(stdscr, row, 0, line.text.data(), static_cast<int>(line.text.size()));
    const auto look = attributes_of(line.how);
    const bool whole = line.how == style::title || line.how == style::selected;
    mvwchgat(stdscr, row, 0, whole ? -1 : static_cast<int>(line.text.size()), look,
             pair_of(line.how), nullptr);
    if (line.mark_length != 0)
      mvwchgat(stdscr, row, static_cast<int>(line.mark), static_cast<int>(line.mark_length),
               look | A_REVERSE, pair_of(line.how), nullptr);
  }
  wrefresh(stdscr);
}

command top_screen::wait_for_key(double seconds_max) {
  wtimeout(stdscr, static_cast<int>(seconds_max * 1000));
  return command_of(wgetch(stdscr));
}

}  // namespace headway::tool
