#include "packets/rail.hpp"

#include <algorithm>
#include <cstring>

#include "base/log.hpp"

namespace headway::packets {
namespace {

constexpr std::uint32_t costly_ns = 100;

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
  return driver_->arm(true);
}

progress::ltask_result rail::run(progress::ltask& self) noexcept {
  return static_cast<rail&>(self).reap();
}

progress::ltask_result rail::reap() noexcept {
  if (const auto left = skip_.load(std::memory_order_relaxed); left > 0) {
    skip_.store(left - 1, std::memory_order_relaxed);
    return progress::ltask_result::idle;
  }
  const std::size_t count = driver_->reap(events_);
  for (std::size_t i = 0; i < count; ++i) handle(events_[i]);
  bool moved = count > 0;
  if (all_.any_stalled()) moved |= all_.retry_stalled(index_);
  if (!moved) {
    if (costly_ && nearer_in_use) {
      const auto rounds = skip_next_.load(std::memory_order_relaxed);
      skip_.store(rounds, std::memory_order_relaxed);
      skip_next_.store(std::min(skip_max, rounds * 2 + 1), std::memory_order_relaxed);
    }
    return progress::ltask_result::idle;
  }
  skip_next_.store(0, std::memory_order_relaxed);
  return progress::ltask_result::advanced;
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
    case rails::event_kind::failed: {
      auto& item = *reinterpret_cast<outgoing*>(what.cookie);
      item.sent(item, what.kind == rails::event_kind::sent);
      all_.engine().pending_ended();
      break;
    }
    case rails::event_kind::lost:
      all_.lose(all_.at(static_cast<std::uint32_t>(what.peer)));
      break;
  }
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
  stream_head head;
  std::memcpy(&head, what.bytes.data(), sizeof head);
  from.returned_.store(head.credit, std::memory_order_relaxed);
  if (head.kind != credit_only) {
    const bool beside = head.kind >= beside_kinds && all_.beside_;
    (beside ? all_.beside_ : all_.above_)->arrived(from, what.bytes);
    from.return_credit_if_due();
  }
  driver_->release(what);
}

}  // namespace headway::packets
