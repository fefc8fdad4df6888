#include "packets/rail.hpp"

#include <algorithm>
#include <cstring>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "packets/bundle/bundle.hpp"

namespace headway::packets {
namespace {

constexpr std::uint32_t costly_ns = 100;
/// Tells the cookie of a bundle's frame from that of an item, which is aligned; see
/// bundle_frames.cpp.
constexpr std::uint64_t frame_bit = 1;

}  // namespace

rail::rail(peers& all, std::size_t index, std::unique_ptr<rails::driver> driver) noexcept
    : ltask("reap rail", &rail::run),
      all_(all),
      index_(index),
      driver_(std::move(driver)),
      costly_(driver_->query().poll_cost_ns >= costly_ns) {}

bool rail::arm() noexcept {
  skip_.store(0, std::memory_order_relaxed);
  skip_next_.store(0, std::memory_order_relaxed);
  idle_looks_.store(0, std::memory_order_relaxed);
  return driver_->arm(true) && unhandled_.load(std::memory_order_relaxed) == 0;
}

progress::ltask_result rail::run(progress::ltask& self) noexcept {
  return static_cast<rail&>(self).reap();
}

progress::ltask_result rail::reap() noexcept {
  if (const auto left = skip_.load(std::memory_order_relaxed); left > 0) {
    skip_.store(left - 1, std::memory_order_relaxed);
    return progress::ltask_result::idle;
  }
  bool moved = bundled ? reap_bundled() : reap_alone();
  if (all_.any_stalled()) moved |= all_.retry_stalled(index_);
  if (!moved) {
    if (costly_ && nearer_in_use) {
      const auto rounds = skip_next_.load(std::memory_order_relaxed);
      const auto most = bundled ? skip_bundled_max : skip_max;
      skip_.store(rounds, std::memory_order_relaxed);
      skip_next_.store(std::min(most, rounds * 2 + 1), std::memory_order_relaxed);
    }
    return progress::ltask_result::idle;
  }
  skip_next_.store(0, std::memory_order_relaxed);
  return progress::ltask_result::advanced;
}

bool rail::reap_alone() noexcept {
  const std::size_t count = driver_->reap(events_);
  for (std::size_t i = 0; i < count; ++i) handle(events_[i]);
  return count > 0;
}

void rail::handle(const rails::event& what) noexcept {
  switch (what.kind) {
    case rails::event_kind::received:
      handle_packet(what);
      break;
    case rails::event_kind::landed:
      all_.above_->landed(what.landing, what.count);
      break;
    case rails::event_kind::sent:
    case rails::event_kind::failed:
      end_item(what);
      break;
    case rails::event_kind::lost:
      all_.lose(all_.at(static_cast<std::uint32_t>(what.peer)));
      break;
    case rails::event_kind::restored:
      break;  // nobody revives the only rail of a peer
  }
}

void rail::end_item(const rails::event& what) noexcept {
  auto& item = *reinterpret_cast<outgoing*>(what.cookie);
  item.sent(item, what.kind == rails::event_kind::sent);
  all_.engine().pending_ended();
}

void rail::end_posted() noexcept {
  auto count = unhandled_.exchange(0, std::memory_order_relaxed);
  do {
    for (const auto& e : std::span(events_).first(count)) {
      if (e.kind == rails::event_kind::received) driver_->release(e);
      if (e.kind != rails::event_kind::sent && e.kind != rails::event_kind::failed) continue;
      if ((e.cookie & frame_bit) != 0) {
        replay_ring::let_go(*reinterpret_cast<replay_ring::frame*>(e.cookie - frame_bit));
      } else {
        end_item(e);
      }
    }
    count = driver_->reap(events_);
  } while (count > 0);
}

// ---- one of several rails -----------------------------------------------------------------------

bool rail::reap_bundled() noexcept {
  auto& keeper = all_.keeper_;
  auto count = unhandled_.load(std::memory_order_relaxed);
  if (count == 0) count = driver_->reap(events_);
  if (count == 0 && !keeper.any_waiting()) {
    // The clock is not read at each of many idle looks, but at the first after a sleep.
    const auto looks = idle_looks_.load(std::memory_order_relaxed);
    idle_looks_.store(looks + 1, std::memory_order_relaxed);
    if (!keeper.clocked() || looks % looks_a_clock != 0) return false;
  }
  const auto now_ns = base::now_ns();
  if (count == 0 && !keeper.due(now_ns)) return false;
  if (!keeper.try_enter()) {
    unhandled_.store(count, std::memory_order_relaxed);  // ours at the next run
    return count > 0;
  }
  for (std::size_t i = 0; i < count; ++i) handle_in_section(events_[i], now_ns);
  unhandled_.store(0, std::memory_order_relaxed);
  keeper.serve(index_, now_ns);
  keeper.leave();
  return count > 0;
}

void rail::handle_in_section(const rails::event& what, std::uint64_t now_ns) noexcept {
  using enum rails::event_kind;
  if (what.kind == landed && static_cast<std::uint32_t>(what.landing) >> 31 != 0) {
    const auto zone = static_cast<std::uint32_t>(what.landing);
    if (auto* piece = all_.keeper_.zones.find(zone))
      piece->of->of->landed(*piece, zone, what.count, now_ns);
    return;
  }
  if ((what.kind == sent || what.kind == failed) && (what.cookie & frame_bit) != 0)
    return replay_ring::let_go(*reinterpret_cast<replay_ring::frame*>(what.cookie - frame_bit));
  if (what.kind == received) return handle_packet_in_section(what, now_ns);
  auto* bundled_peer = what.kind == lost || what.kind == restored
                           ? all_.at(static_cast<std::uint32_t>(what.peer)).bundle_.get()
                           : nullptr;
  lane* on = bundled_peer ? bundled_peer->lane_on(index_) : nullptr;
  if (!on) return handle(what);
  if (what.kind == lost) {
    bundled_peer->lane_lost(*on, what.count != 0, now_ns);
  } else {
    bundled_peer->lane_restored(*on, now_ns);
  }
}

void rail::handle_packet_in_section(const rails::event& what, std::uint64_t now_ns) noexcept {
  peer& from = all_.at(static_cast<std::uint32_t>(what.peer));
  lane* on = from.bundle_ ? from.bundle_->lane_on(index_) : nullptr;
  if (!on) return handle_packet(what);
  if (!from.lost()) from.bundle_->arrived(*on, what.bytes, now_ns);
  driver_->release(what);
}

void rail::handle_packet(const rails::event& what) noexcept {
  peer& from = all_.at(static_cast<std::uint32_t>(what.peer));
  if (what.bytes.size() < sizeof(stream_head)) {
    base::log(base::severity::error, "rank {} sent a packet of {} bytes, shorter than any head",
              static_cast<std::uint32_t>(what.peer), what.bytes.size());
    driver_->release(what);
    all_.lose(from);
    return;
  }
  all_.deliver(from, what.bytes);
  driver_->release(what);
}

}  // namespace headway::packets
