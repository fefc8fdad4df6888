#include "tools/headway/top.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "tools/headway/top_counts.hpp"
#include "tools/headway/top_screen.hpp"
#include "tools/headway/top_view.hpp"
#include "watch/page.hpp"
#include "watch/statistics.hpp"

namespace headway::tool {
namespace {

volatile std::sig_atomic_t interrupted = 0;
void interrupt(int) { interrupted = 1; }

/// Calls `see` for each page of the processes; returns why others cannot be read.
template <class See>
std::vector<std::string> look(const top_options& wanted, See see) {
  std::vector<std::string> faults;
  const auto processes = wanted.processes.empty() ? watch::processes_with_page() : wanted.processes;
  for (const auto process : processes) {
    const auto images = watch::read_pages(process);
    if (!images) faults.push_back(images.error().text);
    else
      for (std::size_t i = 0; i < images->size(); ++i)
        see(page_key(process, static_cast<int>(i)), (*images)[i]);
  }
  return faults;
}

void complain(const std::vector<std::string>& faults) {
  for (const auto& fault : faults) fmt::print(stderr, "headway: top: {}\n", fault);
}

int complain_of_none(const std::vector<std::string>& faults) {
  complain(faults);
  if (faults.empty())
    fmt::print(stderr, "headway: top: no process of yours runs with HEADWAY_STATS\n");
  return 1;
}

int once(const top_options& wanted) {
  std::string text;
  const auto faults = look(wanted, [&](page_key, const watch::page_image& image) {
    if (!text.empty()) text += wanted.json ? ",\n" : "\n";
    text += wanted.json ? watch::statistics_json(image) : watch::statistics_text(image);
  });
  if (text.empty()) return complain_of_none(faults);
  fmt::print("{}", wanted.json ? fmt::format("[{}]\n", text) : text);
  complain(faults);
  return faults.empty() ? 0 : 1;
}

/// Prints one JSON object a line for each process, again and again until all have ended.
int lines(const top_options& wanted) {
  for (bool some = false;; some = true) {
    std::string text;
    const auto faults = look(wanted, [&](page_key, const watch::page_image& image) {
      text += watch::statistics_json(image) + '\n';
    });
    if (text.empty()) return some ? 0 : complain_of_none(faults);
    fmt::print("{}", text);
    if (std::fflush(stdout) != 0) return 1;
    std::this_thread::sleep_for(std::chrono::duration<double>(wanted.period_s));
  }
}

std::optional<watch::page_image> image_of(page_key page) {
  auto images = watch::read_pages(page.first);
  const auto copy = static_cast<std::size_t>(page.second);
  if (!images || copy >= images->size()) return std::nullopt;
  return (*images)[copy];
}

/// Looks at the processes; true if the screen has something to wait for: another process, or one
/// of those that were named.
bool refresh(const top_options& wanted, rate_meter& rates, top_view& view) {
  std::vector<process_counts> found;
  auto faults = look(wanted, [&](page_key page, const watch::page_image& image) {
    found.push_back(counts_of(image, page));
  });
  const bool more = !found.empty() || wanted.processes.empty();
  view.update(rates.look(std::move(found), base::machine_now_ns()), std::move(faults));
  if (const auto page = view.opened()) view.update_tables(image_of(*page));
  return more;
}

/// The full screen, until the user or all processes that were named end it.
int live(const top_options& wanted) {
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds first_period{300};  // pages change four times a second
  const std::chrono::duration<double> period(wanted.period_s);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, interrupt);
  auto screen = top_screen::open();
  if (!screen) {
    complain({screen.error().text});
    return 1;
  }
  rate_meter rates;
  top_view view;
  bool more = refresh(wanted, rates, view);
  auto next = clock::now() +
              std::min<clock::duration>(first_period, duration_cast<clock::duration>(period));
  while (more && !view.ended() && !interrupted) {
    screen->show(view.draw(screen->width(), screen->height()));
    const std::chrono::duration<double> left = next - clock::now();
    const auto pressed = left.count() > 0 ? screen->wait_for_key(left.count()) : command::none;
    view.press(pressed);
    if (clock::now() < next && pressed != command::open) continue;
    more = refresh(wanted, rates, view);
    next = clock::now() + duration_cast<clock::duration>(period);
  }
  return 0;
}

}  // namespace

int top(const top_options& wanted) {
  if (wanted.once || wanted.json) return once(wanted);
  return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? live(wanted) : lines(wanted);
}

}  // namespace headway::tool
