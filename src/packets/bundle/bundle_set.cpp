#include "packets/bundle/bundle_set.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include "packets/bundle/bundle.hpp"

namespace headway::packets {

bundle_set::bundle_set(progress::engine& engine, rendezvous& large_messages, std::uint64_t cut_off)
    : large(large_messages),
      cut_off_ns(cut_off),
      engine_(engine),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {}

bundle_set::~bundle_set() {
  if (timer_ >= 0) ::close(timer_);
}

void bundle_set::add(bundle& b) noexcept {
  // relaxed: bundles are added by one thread at a time
  b.older_in_set = newest_.load(std::memory_order_relaxed);
  newest_.store(&b, std::memory_order_release);  // (N)
}

bundle* bundle_set::older(const bundle& b) noexcept { return b.older_in_set; }

void bundle_set::serve(std::size_t rail_index, std::uint64_t now_ns) noexcept {
  if (waiting_.load(std::memory_order_relaxed) != 0) {
    each([&](bundle& b) {
      if (b.waiting()) b.reaped(rail_index);
    });
  }
  if (!clocked() || now_ns < next_look_ns_.load(std::memory_order_relaxed)) return;
  next_look_ns_.store(now_ns + look_period_ns, std::memory_order_relaxed);
  const bool all = ticked_.exchange(false, std::memory_order_relaxed);
  each([&](bundle& b) {
    if (all || b.active()) b.look(now_ns);
  });
}

void bundle_set::bundle_active(bool is) noexcept {
  active_.fetch_add(is ? 1 : -1, std::memory_order_relaxed);
  if (is) {
    engine_.pending_started();
  } else {
    engine_.pending_ended();
  }
}

bool bundle_set::arm(progress::wake_for) noexcept {
  if (!clocked() || timer_ < 0) return true;
  const itimerspec in{.it_interval = {.tv_sec = 0, .tv_nsec = look_period_ns},
                      .it_value = {.tv_sec = 0, .tv_nsec = look_period_ns}};
  timerfd_settime(timer_, 0, &in, nullptr);
  armed_ = true;
  return true;
}

/// Setting it also clears its expiration: the descriptor need not be read.
void bundle_set::disarm() noexcept {
  if (!armed_) return;
  armed_ = false;
  const itimerspec never{};
  timerfd_settime(timer_, 0, &never, nullptr);
}

}  // namespace headway::packets
