#include "engine/observer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "engine/page.hpp"
#include "engine/statistics.hpp"
#include "engine/timeline_file.hpp"
#include "progress/tunables.hpp"

namespace headway::engine {
namespace {

constexpr std::chrono::milliseconds showing_period{250};

}  // namespace

struct observer::parts {
  explicit parts(const observed& of) : what(of), began_ns(base::now_ns()) {}

  void show();
  void run();

  const observed what;
  const std::uint64_t began_ns;
  page_image image;
  std::optional<page> shown;
  std::mutex lock;  // cold. Guards `ends`
  std::condition_variable changed;
  bool ends = false;
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

bool statistics_wanted() { return progress::stats.get() != 0; }

observer::observer(const observed& what) {
  if (!statistics_wanted() && progress::trace_file.get().empty()) return;
  parts_ = std::make_unique<parts>(what);
  if (!statistics_wanted()) return;
  auto made = page::make();
  if (made) parts_->shown.emplace(std::move(*made));
  else base::log(base::severity::warning, "{}", made.error().text);
  parts_->thread = std::thread([of = parts_.get()] { of->run(); });
}

observer::~observer() { finish(); }

void observer::finish() noexcept {
  if (!parts_ || !parts_->thread.joinable()) return;
  {
    const std::lock_guard hold(parts_->lock);
    parts_->ends = true;
  }
  parts_->changed.notify_one();
  parts_->thread.join();
  parts_->show();
  if (progress::stats.get() != 1) return;
  const auto text = statistics_text(parts_->image);
  // In one piece, so that the tables of several ranks stay apart.
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

void observer::write_timeline() noexcept {
  if (!parts_ || progress::trace_file.get().empty()) return;
  const auto done = add_timeline(progress::trace_file.get(), parts_->what.rank, parts_->began_ns);
  if (!done) base::log(base::severity::warning, "no timeline: {}", done.error().text);
}

}  // namespace headway::engine
