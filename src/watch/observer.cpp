#include "watch/observer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "watch/page.hpp"
#include "watch/statistics.hpp"
#include "watch/timeline_file.hpp"

namespace headway::watch {
namespace {

constexpr std::chrono::milliseconds showing_period{250};

}  // namespace

struct observer::parts {
  parts(const observed& of, settings wanted)
      : what(of), chosen(std::move(wanted)), began_ns(what.progress.clock().now_ns()) {
    HEADWAY_ASSERT(of.size == 0 || (0 <= of.rank && of.rank < of.size));
  }

  void show();
  void run();
  void begin();
  void end() noexcept;
  static void tick(void* self) noexcept { static_cast<parts*>(self)->show(); }

  const observed what;
  const settings chosen;
  const std::uint64_t began_ns;
  page_image image;
  std::string more_entries;  // of the timeline
  std::optional<page> shown;
  // Guards `ends`. std::mutex, which Clang's analysis does not see: std::condition_variable works
  // with no other, and std::condition_variable_any uses locked instructions even with one thread.
  std::mutex lock;
  std::condition_variable changed;
  bool ends = false;
  bool shows = false;
  std::thread thread;
};

void observer::parts::show() {
  gather(what, began_ns, image);
  if (shown) shown->write(image);
}

void observer::parts::run() {
  pthread_setname_np(pthread_self(), "hw-stats");
  for (;;) {
    show();
    std::unique_lock hold(lock);
    if (!ends) changed.wait_for(hold, showing_period);  // a spurious wake-up only shows once more
    if (ends) return;
  }
}

#ifdef HEADWAY_NOTHREAD

void observer::parts::begin() {
  show();
  what.progress.add_tick(&parts::tick, this);
}

void observer::parts::end() noexcept { what.progress.remove_tick(&parts::tick, this); }

#else

void observer::parts::begin() {
  thread = std::thread([this] { run(); });
}

void observer::parts::end() noexcept {
  {
    const std::lock_guard hold(lock);
    ends = true;
  }
  changed.notify_one();
  thread.join();
}

#endif

observer::observer(const observed& what, settings chosen) {
  if (!chosen.counts() && !chosen.traces()) return;
  parts_ = std::make_unique<parts>(what, std::move(chosen));
  if (!parts_->chosen.counts()) return;
  auto made = page::make();
  if (made) parts_->shown.emplace(std::move(*made));
  else base::log(base::severity::warning, "{}", made.error().text);
  parts_->begin();
  parts_->shows = true;
}

observer::~observer() { finish(); }

void observer::finish() noexcept {
  if (!parts_ || !std::exchange(parts_->shows, false)) return;
  parts_->end();
  parts_->show();
  const bool alone = parts_->what.size == 0;  // in no job that has a summary
  const auto mode = parts_->chosen.statistics;
  if (mode != statistics_mode::table && !(mode == statistics_mode::job && alone)) return;
  const auto text = statistics_text(parts_->image);
  // By one call, so that the tables of several ranks do not mix.
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

void observer::add_to_timeline(std::string_view entries) {
  HEADWAY_ASSERT(entries.empty() || entries.starts_with(','));
  if (parts_) parts_->more_entries += entries;
}

void observer::write_timeline() noexcept {
  if (!parts_ || !parts_->chosen.traces()) return;
  HEADWAY_ASSERT(!parts_->shows);  // `finish` was called
  const auto& what = parts_->what;
  const auto job = what.job.empty() ? fmt::format("{}.{}", getpid(), parts_->began_ns) : what.job;
  const auto done = add_timeline(parts_->chosen.trace_file, what.rank, job, parts_->more_entries);
  if (!done) base::log(base::severity::warning, "no timeline: {}", done.error().text);
}

}  // namespace headway::watch
