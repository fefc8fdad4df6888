#include "packets/bundle/keeper.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <mutex>

#include "packets/bundle/bundle.hpp"
#include "packets/tunables.hpp"

namespace headway::packets {
namespace {

constexpr std::uint64_t ns_per_ms = 1'000'000;

template <class T>
T& take(std::vector<T*>& spare, std::vector<std::unique_ptr<T>>& every) {
  if (spare.empty()) {
    every.push_back(std::make_unique<T>());
    spare.reserve(every.capacity());
    return *every.back();
  }
  T& taken = *spare.back();
  spare.pop_back();
  return taken;
}

}  // namespace

bundle_keeper::bundle_keeper(progress::engine& engine)
    : cut_off_ns(static_cast<std::uint64_t>(cut_off_ms.get()) * ns_per_ms),
      engine_(engine),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {}

bundle_keeper::~bundle_keeper() {
  if (timer_ >= 0) ::close(timer_);
}

void bundle_keeper::serve(std::size_t rail_index, std::uint64_t now_ns) noexcept {
  if (waiting_.load(std::memory_order_relaxed) != 0) {
    for (bundle* b : bundles_)
      if (b->waiting()) b->reaped(rail_index);
  }
  if (!clocked() || now_ns < next_look_ns_.load(std::memory_order_relaxed)) return;
  next_look_ns_.store(now_ns + look_period_ns, std::memory_order_relaxed);
  const bool all = ticked_.exchange(false, std::memory_order_relaxed);
  for (bundle* b : bundles_)
    if (all || b->active()) b->look(now_ns);
}

void bundle_keeper::bundle_active(bool is) noexcept {
  active_.fetch_add(is ? 1 : -1, std::memory_order_relaxed);
  if (is) {
    engine_.pending_started();
  } else {
    engine_.pending_ended();
  }
}

bool bundle_keeper::arm() noexcept {
  if (!clocked() || timer_ < 0) return true;
  const itimerspec in{.it_interval = {.tv_sec = 0, .tv_nsec = look_period_ns},
                      .it_value = {.tv_sec = 0, .tv_nsec = look_period_ns}};
  timerfd_settime(timer_, 0, &in, nullptr);
  armed_ = true;
  return true;
}

/// Also forgets that the timer has rung, so that nobody has to read it.
void bundle_keeper::disarm() noexcept {
  if (!armed_) return;
  armed_ = false;
  const itimerspec never{};
  timerfd_settime(timer_, 0, &never, nullptr);
}

flow_piece& bundle_keeper::take_piece() {
  const std::lock_guard guard(pools_lock_);
  return take(pieces_, every_piece_);
}

void bundle_keeper::give_back(flow_piece& piece) noexcept {
  const std::lock_guard guard(pools_lock_);
  pieces_.push_back(&piece);
}

control_item& bundle_keeper::take_control() {
  const std::lock_guard guard(pools_lock_);
  return take(controls_, every_control_);
}

void bundle_keeper::give_back(control_item& item) noexcept {
  const std::lock_guard guard(pools_lock_);
  controls_.push_back(&item);
}

}  // namespace headway::packets
