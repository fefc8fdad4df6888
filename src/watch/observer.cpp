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

#include "base/clock.hpp"
#include "base/log.hpp"
#include "progress/tunables.hpp"
#include "watch/page.hpp"
#include "watch/statistics.hpp"
#include "watch/timeline_file.hpp"

namespace headway::watch {
namespace {

constexpr std::chrono::milliseconds showing_period{250};

}  // namespace

struct observer::parts {
  explicit parts(const observed& of) : what(of), began_ns(base::now_ns()) {}

  void show();
  void run();
  void begin();
  void end() noexcept;
  static void tick(void* self) noexcept { static_cast<parts*>(self)->show(); }

  const observed what;
  const std::uint64_t began_ns;
  page_image image;
  std::optional<page> shown;
  std::mutex lock;  // cold. Guards `ends`
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
  std::unique_lock hold(lock);
  do {
    hold.unlock();
    show();
    hold.lock();
  } while (!changed.wait_for(hold, showing_period, [this] { return ends; }));
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

bool statistics_wanted() { return progress::stats.get() != 0; }

observer::observer(const observed& what) {
  if (!statistics_wanted() && progress::trace_file.get().empty()) return;
  parts_ = std::make_unique<parts>(what);
  if (!statistics_wanted()) return;
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
  if (progress::stats.get() != 1) return;
  const auto text = statistics_text(parts_->image);
  // In one piece, so that the tables of several ranks stay apart.
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

void observer::write_timeline() noexcept {
  if (!parts_ || progress::trace_file.get().empty()) return;
  const auto& what = parts_->what;
  const auto job = what.job.empty() ? fmt::format("{}.{}", getpid(), parts_->began_ns) : what.job;
  const auto done = add_timeline(progress::trace_file.get(), what.rank, job);
  if (!done) base::log(base::severity::warning, "no timeline: {}", done.error().text);
}

}  // namespace headway::watch
