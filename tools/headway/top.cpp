#include "tools/headway/top.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>

#include "watch/page.hpp"
#include "watch/statistics.hpp"

namespace headway::tool {
namespace {

volatile std::sig_atomic_t interrupted = 0;
void interrupt(int) { interrupted = 1; }

/// The number of lines of the terminal; unlimited without a terminal.
std::size_t height() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 2) return 10'000;
  return size.ws_row - 1u;
}

std::string first_lines(const std::string& text, std::size_t count) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < count && end != std::string::npos; ++i) {
    end = text.find('\n', end);
    if (end != std::string::npos) ++end;
  }
  return text.substr(0, end);
}

struct view {
  std::string text;
  std::vector<std::string> faults;
  std::size_t shown = 0;
};

view look(const top_options& wanted) {
  view found;
  const auto processes = wanted.processes.empty() ? watch::processes_with_page() : wanted.processes;
  for (const auto process : processes) {
    const auto images = watch::read_pages(process);
    if (!images) {
      found.faults.push_back(images.error().text);
      continue;
    }
    for (const auto& image : *images) {
      if (found.shown++ != 0) found.text += wanted.json ? ",\n" : "\n";
      found.text += wanted.json ? watch::statistics_json(image) : watch::statistics_text(image);
    }
  }
  if (wanted.json) found.text = fmt::format("[{}]\n", found.text);
  return found;
}

int complain(const view& found) {
  for (const auto& fault : found.faults) fmt::print(stderr, "headway: top: {}\n", fault);
  if (found.faults.empty())
    fmt::print(stderr, "headway: top: no process of yours runs with HEADWAY_STATS\n");
  return 1;
}

int once(const top_options& wanted) {
  const auto found = look(wanted);
  if (found.shown == 0) return complain(found);
  fmt::print("{}", found.text);
  for (const auto& fault : found.faults) fmt::print(stderr, "headway: top: {}\n", fault);
  return found.faults.empty() ? 0 : 1;
}

/// Repeats the tables until the processes end or the user interrupts. Uses plain ANSI sequences:
/// home position, clear to the end of the line, clear the rest.
int live(const top_options& wanted) {
  auto found = look(wanted);
  if (found.shown == 0) return complain(found);
  std::signal(SIGINT, interrupt);
  for (; found.shown != 0 && !interrupted; found = look(wanted)) {
    std::string screen = "\033[H";
    for (const char c : first_lines(found.text, height())) {
      if (c == '\n') screen += "\033[K";
      screen += c;
    }
    fmt::print("{}\033[J", screen);
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::duration<double>(wanted.period_s));
  }
  fmt::print("\n");
  return 0;
}

}  // namespace

int top(const top_options& wanted) {
  return wanted.once || wanted.json || !isatty(STDOUT_FILENO) ? once(wanted) : live(wanted);
}

}  // namespace headway::tool
