#include "packets/rail.hpp"

#include <poll.h>

#include <algorithm>

#include "packets/bundle/bundle.hpp"
#include "packets/cookies.hpp"
#include "packets/peer_state.hpp"

namespace headway::packets {
namespace {

/// Parts of the same packet follow.
bool is_followed(const rails::event& what) noexcept {
  using enum rails::event_kind;
  return (what.kind == received || what.kind == continued) && what.count != 0;
}

}  // namespace

rail::rail(const rail_host& host, std::size_t index, std::unique_ptr<rails::driver> driver,
           rail_use use) noexcept
    : ltask("reap rail", &rail::run),
      when(use),
      host_(host),
      clock_(host.engine.clock()),
      index_(index),
      driver_(std::move(driver)),
      costly_(driver_->query().poll_cost_ns >= costly_ns),
      queues_(driver_->query().queues),
      unsent_(*driver_, host.engine) {}

bool rail::is_called() const noexcept {
  pollfd some{.fd = driver_->descriptor(), .events = POLLIN, .revents = 0};
  return some.fd >= 0 && ::poll(&some, 1, 0) > 0;
}

bool rail::arm(progress::wake_for what) noexcept {
  skip_.store(0, std::memory_order_relaxed);
  skip_next_.store(0, std::memory_order_relaxed);
  idle_looks_.store(0, std::memory_order_relaxed);
  const bool armed =
      what == progress::wake_for::all ? driver_->arm(true) : driver_->arm_for_hurried();
  return armed && unhandled_.load(std::memory_order_relaxed) == 0;
}

progress::ltask_result rail::run(progress::ltask& self) noexcept {
  return static_cast<rail&>(self).reap();
}

progress::ltask_result rail::reap() noexcept {
  if (const auto left = skip_.load(std::memory_order_relaxed); left > 0) {
    skip_.store(left - 1, std::memory_order_relaxed);
    return progress::ltask_result::idle;
  }
  const bool of_bundles = bundled.load(std::memory_order_relaxed);
  bool moved = of_bundles ? reap_bundled() : reap_alone();
  if (host_.stalled.any()) moved |= host_.stalled.retry(index_);
  unsent_.settle();
  if (!moved) {
    if (costly_ && nearer_in_use.load(std::memory_order_relaxed)) {
      const auto rounds = skip_next_.load(std::memory_order_relaxed);
      const auto most = of_bundles ? skip_bundled_max : skip_max;
      skip_.store(rounds, std::memory_order_relaxed);
      skip_next_.store(std::min(most, rounds * 2 + 1), std::memory_order_relaxed);
    }
    return progress::ltask_result::idle;
  }
  skip_next_.store(0, std::memory_order_relaxed);
  return progress::ltask_result::advanced;
}

[[gnu::always_inline]] inline void rail::handle_packet(const rails::event& what) noexcept {
  auto& from = host_.peers.state_of(what.peer);
  if (what.count == 0) [[likely]]
    from.arrived(what.bytes);
  else from.begun(what.bytes, what.count);
  driver_->release(what);
}

[[gnu::always_inline]] inline void rail::handle(const rails::event& what) noexcept {
  if (what.kind == rails::event_kind::received) [[likely]]
    handle_packet(what);
  else handle_other(what);
}

/// The next part of a packet follows closely: a round through all queues in between would take as
/// long as copying much of it.
bool rail::reap_alone() noexcept {
  bool any = false;
  for (int i = 0; i < closely_max; ++i) {
    const std::size_t count = driver_->reap(events_);
    any |= count > 0;
    if (bundled.load(std::memory_order_relaxed)) [[unlikely]] {
      // this thread's: the next run is `reap_bundled`
      unhandled_.store(count, std::memory_order_relaxed);
      return any;
    }
    for (const auto& e : std::span(events_).first(count)) handle(e);
    if (count == 0 || !is_followed(events_[count - 1])) break;
  }
  return any;
}

void rail::handle_other(const rails::event& what) noexcept {
  switch (what.kind) {
    case rails::event_kind::received:  // see `handle`
      break;
    case rails::event_kind::continued:
      host_.peers.state_of(what.peer).continued(what.bytes, what.count);
      driver_->release(what);
      break;
    case rails::event_kind::landed:
      host_.large.landed(what.cookie, what.count);
      break;
    case rails::event_kind::sent:
    case rails::event_kind::failed:
      end_item(what);
      break;
    case rails::event_kind::lost:
      host_.peers.state_of(what.peer).lose();
      break;
    case rails::event_kind::called:
      host_.peers.called(what.peer, index_);
      break;
    case rails::event_kind::restored:
      break;  // the only rail of a peer is never revived
  }
}

void rail::end_item(const rails::event& what) noexcept {
  auto& item = item_of(what.cookie);
  item.sent(item, what.kind == rails::event_kind::sent);
  host_.engine.pending_ended();
}

void rail::end_posted() noexcept {
  auto count = unhandled_.exchange(0, std::memory_order_relaxed);
  do {
    for (const auto& e : std::span(events_).first(count)) {
      using enum rails::event_kind;
      if (e.kind == received || e.kind == continued) driver_->release(e);
      if (e.kind != rails::event_kind::sent && e.kind != rails::event_kind::failed) continue;
      if (auto* const frame = frame_of(e.cookie)) {
        replay_ring::let_go(*frame);
      } else {
        end_item(e);
      }
    }
    count = driver_->reap(events_);
  } while (count > 0);
  unsent_.settle();
}

// ---- one of several rails -----------------------------------------------------------------------

bool rail::reap_bundled() noexcept {
  auto& set = host_.set;
  auto count = unhandled_.load(std::memory_order_relaxed);
  if (count == 0) count = driver_->reap(events_);
  if (count == 0 && !set.any_waiting()) {
    // The first of many idle polls after a sleep reads the clock, the others do not, because that
    // takes longer than they do. A virtual clock costs nothing.
    const auto looks = idle_looks_.load(std::memory_order_relaxed);
    idle_looks_.store(looks + 1, std::memory_order_relaxed);
    if (!set.clocked()) return false;
    if (looks % looks_a_clock != 0 && !clock_.is_virtual()) return false;
  }
  const auto now_ns = clock_.now_ns();
  if (count == 0 && !set.due(now_ns)) return false;
  if (!set.try_enter()) {
    unhandled_.store(count, std::memory_order_relaxed);  // this thread's in the next run
    return count > 0;
  }
  for (std::size_t i = 0; i < count; ++i) handle_in_section(events_[i], now_ns);
  unhandled_.store(0, std::memory_order_relaxed);
  set.serve(index_, now_ns);
  set.leave();
  return count > 0;
}

void rail::handle_in_section(const rails::event& what, std::uint64_t now_ns) noexcept {
  using enum rails::event_kind;
  if (what.kind == sent || what.kind == failed) {
    auto* const frame = frame_of(what.cookie);
    return frame ? replay_ring::let_go(*frame) : end_item(what);
  }
  if (what.kind == received) return handle_packet_in_section(what, now_ns);
  if (what.kind != lost && what.kind != restored) return handle(what);
  bundle* of = host_.peers.state_of(what.peer).bundle();
  lane* on = of ? of->lanes().on_rail(index_) : nullptr;
  if (!on) return handle(what);
  if (what.kind == lost) {
    of->lane_lost(*on, what.count != 0, now_ns);
  } else {
    of->lane_restored(*on, now_ns);
  }
}

void rail::handle_packet_in_section(const rails::event& what, std::uint64_t now_ns) noexcept {
  peer_state& from = host_.peers.state_of(what.peer);
  lane* on = from.bundle() ? from.bundle()->lanes().on_rail(index_) : nullptr;
  if (!on) return handle_packet(what);
  if (!from.lost()) from.bundle()->arrived(*on, what.bytes, now_ns);
  driver_->release(what);
}

}  // namespace headway::packets
