#include "progress/background/sleep_place.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include "base/assert.hpp"

namespace headway::progress {

sleep_place::~sleep_place() {
  if (control_ >= 0) close(control_);
  if (epoll_ >= 0) close(epoll_);
}

base::result<void> sleep_place::open() {
  HEADWAY_ASSERT(epoll_ < 0 && control_ < 0);
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return base::failed_errno("epoll_create1", errno);
  control_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN;  // data null: the control descriptor
  if (control_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, control_, &event) != 0)
    return base::failed_errno("eventfd to end a sleep", errno);
  return {};
}

bool sleep_place::add(int descriptor, void* name, wakes which) noexcept {
  HEADWAY_ASSERT(name != nullptr);
  epoll_event event{};
  event.data.ptr = name;
  event.events = EPOLLIN;
  if (which == wakes::one) {
    event.events |= EPOLLEXCLUSIVE;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0) return true;
    event.events = EPOLLIN;  // Linux before 4.5: two threads are woken
  }
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void sleep_place::remove(int descriptor) noexcept {
  epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
}

void sleep_place::kick() noexcept {
  const std::uint64_t one = 1;
  // A write fails only when the counter is full; then the descriptor is readable, which suffices.
  [[maybe_unused]] const auto written = write(control_, &one, sizeof one);
}

void sleep_place::sleep(std::uint64_t longest_ns) noexcept {
  std::array<epoll_event, 8> events;
  const timespec time_out{static_cast<time_t>(longest_ns / 1'000'000'000u),
                          static_cast<long>(longest_ns % 1'000'000'000u)};
  int ready = epoll_pwait2(epoll_, events.data(), events.size(), &time_out, nullptr);
  if (ready < 0 && errno == ENOSYS)  // Linux before 5.11
    ready = epoll_wait(
        epoll_, events.data(), events.size(),
        static_cast<int>(std::min<std::uint64_t>(longest_ns / 1'000'000u + 1, 1'000'000)));
  for (int i = 0; i < ready; ++i) {
    if (events[static_cast<std::size_t>(i)].data.ptr) continue;
    std::uint64_t kicks;
    [[maybe_unused]] const auto got = read(control_, &kicks, sizeof kicks);
  }
}

}  // namespace headway::progress
