#include "packets/peer_state.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "packets/control.hpp"
#include "packets/events.hpp"
#include "packets/frames.hpp"
#include "packets/transfer/rendezvous.hpp"

namespace headway::packets {

void peer_state::reached_over(const single_rail::way& over, const settings& chosen) noexcept {
  credits_.open(chosen.credit_bytes());
  scheduler_.open(over);
  const auto can = over.via->packet_limits_to(id());
  bound_eager(can.eager_bytes_max);
  whole_bytes_max_ = std::min<std::size_t>(can.whole_bytes_max, credits_.limit() / 2);
  lent_bytes_min_ = can.lent_bytes_min;
  if (!scheduler_.direct().collects())
    prompt_bytes_max_ = std::min(can.inline_bytes_max, eager_bytes_max_);
}

bundle& peer_state::reached_over_several(bundle_set& set, const settings& chosen) {
  HEADWAY_ASSERT(!reached());
  // Several frames of the largest size; not all of the credit, because a full ring only delays.
  constexpr std::size_t ring_bytes_min = 256 * 1024, ring_bytes_max = 1024 * 1024;
  credits_.open(chosen.credit_bytes());
  const auto ring_bytes = std::clamp<std::size_t>(credits_.limit(), ring_bytes_min, ring_bytes_max);
  own_ = std::make_unique<packets::bundle>(static_cast<bundle_owner&>(*this), id(), set, scheduler_,
                                           credits_, services_.engine, ring_bytes);
  return *own_;
}

void peer_state::open_bundle() noexcept {
  HEADWAY_ASSERT(own_ && own_->lanes().count() > 0);
  scheduler_.open(own_->sender());
  bound_eager(own_->eager_bytes_max());
}

bool peer_state::sent_over_another(std::size_t rail_index) const noexcept {
  const auto& only = scheduler_.direct();
  return only.is_open() && only.rail_index() != rail_index;
}

void peer_state::refuse() noexcept {
  HEADWAY_ASSERT(scheduler_.idle());  // no other thread can have posted anything
  static_cast<void>(scheduler_.mark_lost());
}

void peer_state::know(std::size_t rail_index, const sampling::profile& known) noexcept {
  if (!own_) return;
  own_->know(rail_index, known);
  bound_eager(own_->eager_bytes_max());
}

void peer_state::bound_eager(std::size_t bytes) noexcept {
  HEADWAY_ASSERT(credits_.limit() > 0);
  eager_bytes_max_ = std::min<std::size_t>(bytes, credits_.limit() / 2);
}

/// `deliver`, always inlined: gives a packet to the module that it is for.
[[gnu::always_inline]] inline void peer_state::deliver_now(
    std::span<const std::byte> packet) noexcept {
  stream_head head;
  std::memcpy(&head, packet.data(), sizeof head);
  credits_.returned(head.credit);
  if (head.kind == own_kind) return arrived_own(packet);
  services_.above.of(head.kind).arrived(*this, packet);
  return_credit_if_due();
}

void peer_state::arrived(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < sizeof(stream_head)) [[unlikely]]
    return broken("a packet that is shorter than any head");
  const auto kind = static_cast<std::uint8_t>(bytes[offsetof(stream_head, kind)]);
  if (kind == static_cast<std::uint8_t>(frame_kind::together)) return arrived_together(bytes);
  deliver_now(bytes);
}

/// Only the first module above sends packets in parts.
void peer_state::begun(std::span<const std::byte> bytes, std::size_t following) noexcept {
  stream_head head;
  if (!read_head(bytes, head) || head.kind == own_kind || head.kind >= beside_kinds)
    return broken("a packet in parts that has to be whole");
  credits_.returned(head.credit);
  in_parts_ = services_.above.first->begun(*this, bytes, following);
}

void peer_state::continued(std::span<const std::byte> bytes, std::size_t following) noexcept {
  if (!in_parts_) return;  // the peer was given up meanwhile
  const auto what = *in_parts_;
  if (following == 0) in_parts_.reset();
  services_.above.first->continued(*this, what, bytes, following);
  if (following == 0) return_credit_if_due();
}

void peer_state::break_off_parts() noexcept {
  if (const auto what = std::exchange(in_parts_, std::nullopt))
    services_.above.first->broken_off(*what);
}

void peer_state::arrived_together(std::span<const std::byte> bytes) noexcept {
  frame_head head;
  if (!read_head(bytes, head)) return broken("a frame shorter than its head");
  const bool sound = head.bytes == bytes.size() - sizeof head &&
                     each_packet(bytes.subspan(sizeof head), head.packets,
                                 [&](std::span<const std::byte> packet) { deliver(packet); });
  if (!sound) broken("a frame whose packets make no sense");
}

void peer_state::deliver(std::span<const std::byte> packet) noexcept { deliver_now(packet); }

void peer_state::arrived_own(std::span<const std::byte> packet) noexcept {
  control c;
  const auto what = static_cast<control_kind>(packet[offsetof(control, what)]);
  if (what == control_kind::credit) return;
  if (what == control_kind::piece) {
    if (!services_.large.arrived_piece(*this, packet)) broken("a piece that makes no sense");
    return;
  }
  if (packet.size() != sizeof c) return broken("a control packet of a wrong size");
  std::memcpy(&c, packet.data(), sizeof c);
  if (own_ && c.lane >= own_->lanes().count()) return broken("a rail that does not exist");
  switch (c.what) {
    case control_kind::credit:  // above
    case control_kind::piece:
      return;
    case control_kind::cts:
    case control_kind::pieces:
    case control_kind::received:
    case control_kind::refused:
      return services_.large.arrived(*this, c);
    case control_kind::lane_down:
      if (own_) own_->lane_down(c.lane);
      return;
    case control_kind::lane_lost:
      if (own_) own_->ask_again(c.lane);
      return;
  }
  broken("a control packet of no known kind");
}

void peer::give_up(std::string_view why) noexcept {
  base::log(base::severity::error, "peer {} is given up: {}", static_cast<std::uint32_t>(id_), why);
  static_cast<peer_state&>(*this).lose();
}

void peer_state::broken(const char* what) noexcept {
  base::log(base::severity::error, "peer {} sent {}", static_cast<std::uint32_t>(id()), what);
  lose();
}

void peer_state::lose() noexcept {
  if (scheduler_.mark_lost())
    base::log(base::severity::info, "peer {} is lost", static_cast<std::uint32_t>(id()));
  if (loss_told_) return;
  events::peer_lost.raise({static_cast<std::uint64_t>(id())});
  scheduler_.end_waiting();
  if (own_) own_->fail_all();
  services_.large.lost(*this);
  break_off_parts();
  loss_told_ = true;
  if (services_.above.first) services_.above.first->lost(*this);
  if (services_.above.second) services_.above.second->lost(*this);
}

void peer_state::end() noexcept {
  static_cast<void>(scheduler_.mark_lost());
  scheduler_.end_waiting();
  if (own_) own_->fail_all();
  services_.large.end_divided(*this);
  break_off_parts();
}

}  // namespace headway::packets
