#include "rails/tcp/wake_up.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

namespace headway::rails::tcp {

base::result<> wake_up::open(watch_set& watch, std::uint64_t word) {
  bell_ = unique_fd(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!bell_) return base::failed_errno("eventfd", errno);
  if (!watch.add(bell_.get(), EPOLLIN, word)) return base::failed_errno("epoll_ctl", errno);
  return {};
}

bool wake_up::arm(bool sleeping) noexcept {
  asleep_.store(sleeping, std::memory_order_seq_cst);  // (S)
  if (!sleeping) {
    set_woken();
    return true;
  }
  // Descriptors need no arming: the watch set is level-triggered.
  return !unfinished_.load(std::memory_order_seq_cst) &&  // (S)
         !requests_.load(std::memory_order_seq_cst) &&    // (S)
         !health_due_.load(std::memory_order_seq_cst);    // (S)
}

void wake_up::ring_if_asleep() noexcept {
  if (!asleep_.load(std::memory_order_seq_cst)) return;  // (S)
  const std::uint64_t one = 1;
  (void)!write(bell_.get(), &one, sizeof one);  // if it is full it is readable already
}

void wake_up::drain() noexcept {
  std::uint64_t rung = 0;
  (void)!read(bell_.get(), &rung, sizeof rung);
}

void wake_up::request(link& which) noexcept {
  if (!which.requested.exchange(true, std::memory_order_acquire)) {  // (N)
    which.next_request = requests_.load(std::memory_order_relaxed);
    while (!requests_.compare_exchange_weak(which.next_request, &which, std::memory_order_seq_cst,
                                            std::memory_order_relaxed)) {  // (S)
    }
  }
  ring_if_asleep();
}

void wake_up::request_health_check() noexcept {
  health_due_.store(true, std::memory_order_seq_cst);  // (S)
  ring_if_asleep();
}

bool wake_up::take_health_check() noexcept {
  if (!health_due_.load(std::memory_order_relaxed)) return false;  // a hint, confirmed below
  // before the check, so that a later request is kept
  health_due_.store(false, std::memory_order_seq_cst);
  return true;
}

void wake_up::set_unfinished(bool left) noexcept {
  if (left == unfinished_.load(std::memory_order_relaxed)) return;  // only this thread writes it
  unfinished_.store(left, std::memory_order_seq_cst);               // (S)
  if (left) ring_if_asleep();
}

}  // namespace headway::rails::tcp
