#include "progress/background/kernel_sleeper.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"

namespace headway::progress {

base::result<std::unique_ptr<kernel_sleeper>> kernel_sleeper::open(std::uint64_t blind_period_ns) {
  std::unique_ptr<kernel_sleeper> made(new kernel_sleeper(blind_period_ns));
  for (sleep_place* const place : {&made->beside_, &made->place_})
    if (auto opened = place->open(); !opened) return std::unexpected(std::move(opened.error()));
  return made;
}

void kernel_sleeper::add(event_source& source) {
  int descriptor = source.descriptor();
  const base::lock_guard hold(lock_);
  HEADWAY_ASSERT(std::ranges::find(sources_, &source, &entry::source) == sources_.end());
  // In this order: the kernel asks the thread that sleeps beside the holder first.
  using wakes = sleep_place::wakes;
  const bool beside = descriptor >= 0 && source.silent_unless_armed() &&
                      beside_.add(descriptor, &source, wakes::one);
  if (descriptor >= 0 && !place_.add(descriptor, &source, beside ? wakes::one : wakes::every)) {
    base::log(base::severity::warning, "descriptor {} of an event source cannot be slept on",
              descriptor);
    if (beside) beside_.remove(descriptor);
    descriptor = -1;
  }
  sources_.push_back({&source, descriptor});
  count_sources();
  kick();  // a thread that sleeps now has not armed it
}

void kernel_sleeper::remove(event_source& source) {
  const base::lock_guard hold(lock_);
  const auto it = std::ranges::find(sources_, &source, &entry::source);
  if (it == sources_.end()) return;
  if (it->descriptor >= 0) {
    beside_.remove(it->descriptor);
    place_.remove(it->descriptor);
  }
  sources_.erase(it);
  count_sources();
}

void kernel_sleeper::count_sources() noexcept {
  int blind = 0;
  bool silent = true;
  auto shortest = sources_.empty() ? 0 : UINT64_MAX;
  for (const auto& e : sources_) {
    blind += e.descriptor < 0;
    silent = silent && e.source->silent_unless_armed();
    shortest = std::min<std::uint64_t>(shortest, e.source->shortest_poll_period_ns());
  }
  blind_sources_.store(blind, std::memory_order_relaxed);
  silent_.store(silent, std::memory_order_relaxed);
  shortest_period_ns_.store(shortest, std::memory_order_relaxed);
}

bool kernel_sleeper::arm(wake_for what) noexcept {
  const base::lock_guard hold(lock_);
  bool all = true;
  for (const auto& e : sources_) all = e.source->arm(what) && all;
  return all;
}

void kernel_sleeper::disarm() noexcept {
  const base::lock_guard hold(lock_);
  for (const auto& e : sources_) e.source->disarm();
}

void kernel_sleeper::sleep_armed(std::uint64_t deadline_ns) noexcept {
  const auto now = base::machine_now_ns();  // the kernel uses the machine's clock
  std::uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
  if (is_blind()) left = std::min(left, blind_period_ns_);
  place_.sleep(left);
}

void kernel_sleeper::sleep_beside(std::uint64_t deadline_ns) noexcept {
  const auto now = base::machine_now_ns();
  beside_.sleep(deadline_ns > now ? deadline_ns - now : 0);
}

}  // namespace headway::progress
