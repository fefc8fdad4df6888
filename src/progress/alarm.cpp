#include "progress/alarm.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace headway::progress {

base::result<std::unique_ptr<kernel_timer>> kernel_timer::open() {
  const int descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  if (descriptor < 0) return base::failed_errno("timerfd of the event thread", errno);
  return std::unique_ptr<kernel_timer>(new kernel_timer(descriptor));
}

kernel_timer::~kernel_timer() { close(descriptor_); }

void kernel_timer::set(std::uint64_t in_ns) noexcept {
  constexpr std::uint64_t second = 1'000'000'000;
  itimerspec when{};  // all of it zero would disarm it
  when.it_value.tv_sec = static_cast<time_t>(in_ns / second);
  when.it_value.tv_nsec = static_cast<long>(in_ns % second);
  timerfd_settime(descriptor_, 0, &when, nullptr);
}

void kernel_timer::wait() noexcept {
  std::uint64_t times;
  if (read(descriptor_, &times, sizeof times) == sizeof times || errno == EINTR) return;
  // The program has closed a descriptor that is not its own.
  constexpr timespec a_while{.tv_sec = 0, .tv_nsec = 1'000'000};
  nanosleep(&a_while, nullptr);
}

}  // namespace headway::progress
