#include "base/log.hpp"

#include <unistd.h>

#include <atomic>
#include <string>

#include "base/mutex.hpp"

namespace headway::base {
namespace {

constinit std::atomic<severity> least{severity::warning};  // relaxed: carries no data

struct name_of_process {
  mutex lock;
  std::string text HEADWAY_GUARDED_BY(lock);
};

name_of_process& own_name() {
  static auto* one = new name_of_process;  // never destroyed: destructors of statics may log
  return *one;
}

std::string name_prefix() {
  auto& name = own_name();
  const lock_guard guard(name.lock);
  return name.text.empty() ? std::string() : name.text + ": ";
}

}  // namespace

void log_as(const log_settings& how) noexcept { least.store(how.least, std::memory_order_relaxed); }

void log_name(std::string_view name) {
  auto& own = own_name();
  const lock_guard guard(own.lock);
  own.text = name;
}

bool log_admits(severity level) noexcept { return level <= least.load(std::memory_order_relaxed); }

void log_line(severity level, std::string_view text) noexcept {
  if (!log_admits(level)) return;
  const auto line = fmt::format("headway: {}{}\n", name_prefix(), text);
  // A line that cannot be written is lost.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace headway::base
