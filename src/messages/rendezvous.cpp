// Messages too large for a packet, which are announced first; and preposted memory.
#include <algorithm>
#include <cstring>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "messages/events.hpp"
#include "messages/parts.hpp"
#include "progress/core/meter.hpp"

namespace headway::messages {
namespace {

// Names in the timeline: from the request to send, or from its match, until the last piece.
constexpr const char* sending = "send rendezvous";
constexpr const char* receiving = "receive rendezvous";

}  // namespace

void exchange_parts::begin_send(request& r) noexcept {
  now_pending(r);
  progress::note_begin(sending, &r, r.room());
  r.ended = &exchange_parts::send_ended;
}

void exchange_parts::write_rts(request& r, const packets::announced& as,
                               std::uint8_t given_up) noexcept {
  r.how = r.where_->how.load(std::memory_order_relaxed);
  write_head(r, rts{.match = {.kind = wire_kind::request_to_send,
                              .given_up = given_up,
                              .context = r.where_->id,
                              .source = source_of(r.where_->self, r.history_),
                              .tag = r.tag_},
                    .bytes = r.room(),
                    .message = as});
  r.can_wait = !r.where_->collective;
  if (r.times) [[unlikely]]
    r.times->number = as.number;
}

void exchange_parts::start_rts(packets::peer& to, request& r) noexcept {
  begin_send(r);
  r.where_->give_priority(r);
  peers.rendezvous().post_rts(to, r, [&](const auto& as) { write_rts(r, as, 0); });
}

void exchange_parts::fall_back_to_rts(packets::send_item& item) noexcept {
  request& r = owner_of(static_cast<packets::transfer&>(item));
  auto& parts = r.where_->parts;
  envelope match;
  std::memcpy(&match, item.head.data(), sizeof match);
  events::eager_window_full.raise({static_cast<std::uint64_t>(r.peer_rank_),
                                   static_cast<std::uint64_t>(r.tag_), r.memory.size()});
  parts.begin_send(r);
  parts.peers.rendezvous().enter_rts(
      *r.with, r, [&](const auto& as) { parts.write_rts(r, as, match.given_up); });
}

void exchange_parts::accept(packets::peer& from, request& r, const rts& announced) noexcept {
  const std::size_t fits = std::min<std::size_t>(announced.bytes, r.room());
  const bool given_up = announced.match.given_up != 0;
  if (!given_up) check_length(r, announced.match.tag, announced.bytes);
  const auto how = fits < announced.bytes ? outcome::truncated : outcome::ok;
  r.arrived = {.source = rank_in(announced.match.source),
               .tag = announced.match.tag,
               .bytes = fits,
               .how = given_up ? outcome::peer_lost : how};
  if (!r.scattered) r.memory = r.memory.first(fits);
  r.left = fits;
  r.how = r.where_->how.load(std::memory_order_relaxed);
  r.urgent = r.where_->passes_others.load(std::memory_order_relaxed);
  r.end_can_wait = !r.where_->collective;
  if (r.times) [[unlikely]] {
    r.times->matched_ns = base::machine_now_ns();
    r.times->number = announced.message.number;
  }
  begin_receive(r);
  peers.rendezvous().fetch(from, announced.message, r);
}

void exchange_parts::begin_receive(request& r) noexcept {
  now_pending(r);
  progress::note_begin(receiving, &r, r.arrived.bytes);
  r.ended = &exchange_parts::receive_ended;
}

/// Through its peer and not its context: for a request that a program never completed, the context
/// may no longer exist when the rails stop.
exchange_parts& exchange_parts::parts_of(const request& r) noexcept {
  return static_cast<exchange_parts&>(r.with->above());
}

void exchange_parts::send_ended(packets::transfer& t, bool well) noexcept {
  request& r = owner_of(t);
  progress::note_end(sending, &r, r.arrived.bytes);
  parts_of(r).end(r, well);
}

void exchange_parts::receive_ended(packets::transfer& t, bool well) noexcept {
  request& r = owner_of(t);
  progress::note_end(receiving, &r, r.arrived.bytes);
  parts_of(r).end(r, well);
}

void exchange_parts::payload_sent(packets::send_item& item, bool well) noexcept {
  request& r = owner_of(static_cast<packets::transfer&>(item));
  parts_of(r).end(r, well);
}

// ---- preposted memory ---------------------------------------------------------------------------

packets::preposted exchange::prepost(context& where, request& r, std::span<std::byte> memory,
                                     int source) noexcept {
  HEADWAY_DEBUG_ASSERT(!memory.empty() && 0 <= source && source < where.members->size());
  const coarse_lock held(*parts_);
  r.aim(where, memory, source);
  r.arrived = {.source = source};
  r.ended = &exchange_parts::receive_ended;
  return parts_->peers.rendezvous().prepost(where.peer_of(source), r);
}

void exchange::expect(request& r, std::size_t bytes) noexcept {
  HEADWAY_DEBUG_ASSERT(0 < bytes && bytes <= r.memory.size());
  r.arrived.bytes = bytes;
  parts_->begin_receive(r);
  parts_->peers.rendezvous().expect(r, bytes);
}

request* exchange::withdraw(std::uint32_t preposted_number) noexcept {
  packets::transfer* const t = parts_->peers.rendezvous().withdraw(preposted_number);
  return t ? &exchange_parts::owner_of(*t) : nullptr;
}

void exchange::put(context& where, request& r, std::span<const std::byte> data, int destination,
                   const packets::preposted& into) noexcept {
  HEADWAY_DEBUG_ASSERT(into.number != 0 && !data.empty());
  const coarse_lock held(*parts_);
  r.aim(where, data, destination);
  r.arrived = {.source = destination, .bytes = data.size()};
  parts_->begin_send(r);
  parts_->peers.rendezvous().put(where.peer_of(destination), r, into);
}

}  // namespace headway::messages
