#include "progress/background/kernel_sleeper.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"

namespace headway::progress {

base::result<std::unique_ptr<kernel_sleeper>> kernel_sleeper::open(std::uint64_t blind_period_ns) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return base::failed_errno("epoll_create1", errno);
  const int control = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN;  // data null: the control descriptor
  if (control < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, control, &event) != 0) {
    const auto why = base::failed_errno("eventfd of the kernel sleeper", errno);
    if (control >= 0) close(control);
    close(epoll);
    return why;
  }
  return std::unique_ptr<kernel_sleeper>(new kernel_sleeper(epoll, control, blind_period_ns));
}

kernel_sleeper::~kernel_sleeper() {
  close(control_);
  close(epoll_);
}

void kernel_sleeper::kick() noexcept {
  const std::uint64_t one = 1;
  // A write fails only when the counter is full; then the descriptor is readable, which suffices.
  [[maybe_unused]] const auto written = write(control_, &one, sizeof one);
}

void kernel_sleeper::add(event_source& source) {
  int descriptor = source.descriptor();
  const base::lock_guard hold(lock_);
  HEADWAY_ASSERT(std::ranges::find(sources_, &source, &entry::source) == sources_.end());
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = &source;
  if (descriptor >= 0 && epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    base::log(base::severity::warning, "descriptor {} of an event source cannot be slept on",
              descriptor);
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
  if (it->descriptor >= 0) epoll_ctl(epoll_, EPOLL_CTL_DEL, it->descriptor, nullptr);
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
  std::array<epoll_event, 8> events;
  const timespec time_out{static_cast<time_t>(left / 1'000'000'000u),
                          static_cast<long>(left % 1'000'000'000u)};
  int ready = epoll_pwait2(epoll_, events.data(), events.size(), &time_out, nullptr);
  if (ready < 0 && errno == ENOSYS)  // Linux before 5.11
    ready = epoll_wait(epoll_, events.data(), events.size(),
                       static_cast<int>(std::min<std::uint64_t>(left / 1'000'000u + 1, 1'000'000)));
  for (int i = 0; i < ready; ++i) {
    if (events[static_cast<std::size_t>(i)].data.ptr) continue;
    std::uint64_t kicks;
    [[maybe_unused]] const auto got = read(control_, &kicks, sizeof kicks);
  }
}

}  // namespace headway::progress
