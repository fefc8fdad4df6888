#include <algorithm>
#include <mutex>
#include <utility>

#include "messages/parts.hpp"
#include "progress/meter.hpp"

namespace headway::messages {
namespace {

// In the timeline: from the offer, or from its match, until the last piece.
constexpr const char* sending = "send rendezvous";
constexpr const char* receiving = "receive rendezvous";

}  // namespace

request& exchange_parts::owner_of(packets::outgoing& item) noexcept {
  return static_cast<request&>(item);
}

void exchange_parts::write_offer(request& r) noexcept {
  progress::note_begin(sending, &r, r.bytes_);
  r.stage_ = request::stage::offered;
  packets::outgoing& out = r;
  out.payload = {};
  out.charge = 0;
  out.answered = true;
  out.landing = rails::landing_id::none;
  out.how = r.where_->how.load(std::memory_order_relaxed);
  out.sent = &exchange_parts::offer_sent;
  // From now on `lost` may end it.
  sends.insert(r, [&](std::uint32_t given) {
    r.id_ = given;
    write_head(out, offer{.match = {.kind = wire_kind::request_to_send,
                                    .context = r.where_->id,
                                    .source = static_cast<std::uint32_t>(r.where_->self),
                                    .tag = r.tag_},
                          .bytes = r.bytes_,
                          .send_id = given});
  });
}

void exchange_parts::start_offer(packets::peer& to, request& r) noexcept {
  now_pending(r);
  write_offer(r);
  const std::uint32_t id = r.id_;
  if (to.post(r) == packets::posted::down && sends.take(id)) fail(r, outcome::peer_lost);
}

void exchange_parts::demote(packets::outgoing& item) noexcept {
  request& r = owner_of(item);
  auto& parts = r.where_->parts;
  parts.now_pending(r);
  parts.write_offer(r);
}

/// Not by way of its context: of what a program left under way that may be gone when rails stop.
exchange_parts& exchange_parts::parts_of(const request& r) noexcept {
  return static_cast<exchange_parts&>(r.from_->above());
}

void exchange_parts::offer_sent(packets::outgoing& item, bool well) noexcept {
  if (well) return;
  request& r = owner_of(item);
  auto& parts = parts_of(r);
  if (parts.sends.take(r.id_)) parts.fail(r, outcome::peer_lost);
}

void exchange_parts::payload_sent(packets::outgoing& item, bool well) noexcept {
  request& r = owner_of(item);
  auto& parts = parts_of(r);
  progress::note_end(sending, &r, r.bytes_);
  if (well) {
    parts.complete(r);
  } else {
    parts.fail(r, outcome::peer_lost);
  }
}

void exchange_parts::granted(packets::peer& from, const grant& given) noexcept {
  request* offered = sends.find(given.send_id);
  if (!offered || offered->from_ != &from) return;  // lost meanwhile, or not what we sent
  if (sends.take(given.send_id) != offered) return;
  request& r = *offered;
  const std::size_t wanted = std::min<std::uint64_t>(given.bytes, r.bytes_);
  if (given.zone == 0 || wanted == 0) {
    progress::note_end(sending, &r, r.bytes_);
    return complete(r);
  }
  send_piece(from, r, static_cast<rails::landing_id>(given.zone), wanted);
}

void exchange_parts::send_piece(packets::peer& to, request& r, rails::landing_id zone,
                                std::size_t bytes) noexcept {
  r.stage_ = request::stage::sending;
  packets::outgoing& out = r;
  out.head_bytes = 0;
  out.answered = false;
  out.landing = zone;
  out.offset = 0;
  out.payload = {r.data_, bytes};
  out.sent = &exchange_parts::payload_sent;
  switch (to.post(out)) {
    case packets::posted::done:
      progress::note_end(sending, &r, r.bytes_);
      return complete(r);
    case packets::posted::pending:
      return;
    case packets::posted::down:
      progress::note_end(sending, &r, r.bytes_);
      return fail(r, outcome::peer_lost);
  }
}

std::span<const std::byte> exchange_parts::offered(packets::peer& to, std::uint32_t send_id,
                                                   void*& owner) noexcept {
  request* r = sends.find(send_id);
  if (!r || r->from_ != &to || sends.take(send_id) != r) return {};  // lost, or not what we sent
  r->stage_ = request::stage::sending;
  owner = r;
  return {r->data_, r->bytes_};
}

void exchange_parts::pushed(void* owner, bool well) noexcept {
  auto& r = *static_cast<request*>(owner);
  if (well) return complete(r);
  fail(r, outcome::peer_lost);
}

void exchange_parts::pulled(void* owner, bool well) noexcept {
  auto& r = *static_cast<request*>(owner);
  if (well) return complete(r);
  fail(r, outcome::peer_lost);
}

void exchange_parts::accept(packets::peer& from, request& r, const parked& offered) noexcept {
  const std::size_t fits = std::min(offered.bytes, r.bytes_);
  r.from_ = &from;
  r.send_id_ = offered.send_id;
  r.landing_left_ = fits;
  r.arrived = {.source = offered.source,
               .tag = offered.tag,
               .bytes = fits,
               .how = fits < offered.bytes ? outcome::truncated : outcome::ok};
  if (!r.counted_) now_pending(r);
  progress::note_begin(receiving, &r, fits);
  open_landing(r);
}

void exchange_parts::open_landing(request& r) noexcept {
  packets::peer& from = *r.from_;
  if (from.lost()) return fail(r, outcome::peer_lost);
  r.stage_ = request::stage::landing;
  if (from.bundled())
    return from.pull({.target = {r.data_, r.landing_left_},
                      .send_id = r.send_id_,
                      .owner = &r,
                      .how = r.where_->how.load(std::memory_order_relaxed)});
  const std::span<std::byte> room(r.data_, r.landing_left_);
  const bool nothing = room.empty();
  // From now on `lost` may end it.
  const auto id = landings.insert(r, [&](std::uint32_t given) { r.id_ = given; });
  const auto zone = static_cast<rails::landing_id>(id);
  if (!nothing && !from.rail().land(from.id(), zone, room)) {
    if (!landings.take(id)) return;
    r.stage_ = request::stage::awaiting;
    bool submit = false;
    {
      const std::lock_guard guard(waiting_lock);
      awaiting.push_back(r);
      submit = !std::exchange(landing_retry_.submitted, true);
    }
    if (submit) engine.submit(landing_retry_);
    return;
  }
  send_grant(r, nothing ? 0 : id);
}

progress::ltask_result exchange_parts::retry_landings(progress::ltask& self) noexcept {
  auto& task = static_cast<landing_retry&>(self);
  auto& parts = task.parts;
  base::intrusive_list<request> now;
  {
    const std::lock_guard guard(parts.waiting_lock);
    while (request* r = parts.awaiting.pop_front()) now.push_back(*r);
  }
  while (request* r = now.pop_front()) parts.open_landing(*r);
  const std::lock_guard guard(parts.waiting_lock);
  task.submitted = !parts.awaiting.empty();
  return task.submitted ? progress::ltask_result::idle : progress::ltask_result::done;
}

void exchange_parts::send_grant(request& r, std::uint32_t zone) noexcept {
  packets::peer& from = *r.from_;
  const std::uint32_t id = r.id_;
  packets::outgoing& out = r;
  write_head(out, grant{.send_id = r.send_id_, .zone = zone, .bytes = r.landing_left_});
  out.payload = {};
  out.charge = 0;
  out.landing = rails::landing_id::none;
  out.sent = &exchange_parts::grant_sent;
  out.answered = zone != 0;  // without a zone its being sent is the end
  switch (from.post(out)) {
    case packets::posted::done:
      if (landings.take(id)) complete(r);
      return;
    case packets::posted::pending:
      return;
    case packets::posted::down:
      if (zone != 0) from.rail().unland(static_cast<rails::landing_id>(zone));
      if (landings.take(id)) fail(r, outcome::peer_lost);  // else `lost` has ended it
      return;
  }
}

void exchange_parts::grant_sent(packets::outgoing& item, bool well) noexcept {
  request& r = owner_of(item);
  auto& parts = parts_of(r);
  if (!well && r.landing_left_ != 0) r.from_->rail().unland(static_cast<rails::landing_id>(r.id_));
  if (!parts.landings.take(r.id_)) return;  // `lost` has ended it
  if (well) return parts.complete(r);       // nothing was asked for
  parts.fail(r, outcome::peer_lost);
}

void exchange_parts::landed(rails::landing_id zone, std::uint64_t bytes) noexcept {
  request* r = landings.find(static_cast<std::uint32_t>(zone));
  if (!r) return;
  landed_in(*r, bytes);
}

void exchange_parts::landed_in(request& r, std::uint64_t bytes) noexcept {
  r.landing_left_ -= std::min(bytes, r.landing_left_);
  if (r.landing_left_ != 0) return;
  if (!landings.take(r.id_)) return;
  r.from_->rail().unland(static_cast<rails::landing_id>(r.id_));
  progress::note_end(receiving, &r, r.arrived.bytes);
  complete(r);
}

// ---- zones opened ahead ------------------------------------------------------------------------

std::optional<rails::landing_id> exchange_parts::open_zone(packets::peer& from,
                                                           request& r) noexcept {
  if (from.bundled() || from.lost()) return rails::landing_id::none;
  r.from_ = &from;
  r.landing_left_ = r.bytes_ + 1;  // one more than can come: not complete before `expect`
  r.stage_ = request::stage::landing;
  const std::span<std::byte> room(r.data_, r.bytes_);
  // From now on `lost` may end it.
  const auto id = landings.insert(r, [&](std::uint32_t given) { r.id_ = given; });
  const auto zone = static_cast<rails::landing_id>(id);
  const bool open = from.rail().land(from.id(), zone, room);
  // Seen not lost: then `lost`, when it comes, finds request and zone.
  if (open && !from.lost()) return zone;
  request* mine = landings.take(id);
  if (open) from.rail().unland(zone);
  if (!mine) return std::nullopt;
  return rails::landing_id::none;
}

void exchange_parts::expect(request& r, std::size_t bytes) noexcept {
  r.arrived.bytes = bytes;
  now_pending(r);
  progress::note_begin(receiving, &r, bytes);
  landed_in(r, r.bytes_ + 1 - bytes);  // what will not come
}

request* exchange_parts::close_zone(packets::peer& from, rails::landing_id zone) noexcept {
  request* r = landings.take(static_cast<std::uint32_t>(zone));
  if (r) from.rail().unland(zone);
  return r;
}

void exchange_parts::send_to_zone(packets::peer& to, request& r, rails::landing_id zone) noexcept {
  now_pending(r);
  progress::note_begin(sending, &r, r.bytes_);
  send_piece(to, r, zone, r.bytes_);
}

}  // namespace headway::messages
