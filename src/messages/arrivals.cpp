#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/log.hpp"
#include "messages/parts.hpp"

namespace headway::messages {

exchange_parts::~exchange_parts() {
  while (parked* message = early.pop_front()) unpark(message);
  for (auto& slot : pages) delete slot.load(std::memory_order_relaxed);  // nobody else is left
}

context* exchange_parts::find(std::uint16_t id) noexcept {
  const page* entries = pages[id / page_entries].load(std::memory_order_acquire);  // (E)
  // (E): pairs with the stores in `enter`, so that the context is seen whole.
  return entries ? (*entries)[id % page_entries].load(std::memory_order_acquire) : nullptr;
}

void exchange_parts::enter(std::uint16_t id, context* where) {
  auto& slot = pages[id / page_entries];
  if (!slot.load(std::memory_order_acquire)) {  // (E)
    auto* fresh = new page{};
    page* none = nullptr;
    if (!slot.compare_exchange_strong(none, fresh, std::memory_order_release,  // (E)
                                      std::memory_order_relaxed))
      delete fresh;
  }
  const std::lock_guard guard(early_lock);
  for (parked* message = early.front(); where && message;) {
    parked* following = early.after(*message);
    if (message->context == id) {
      early.erase(*message);
      where->waiting.add_parked(*message);  // nobody else knows `where` yet
    }
    message = following;
  }
  (*slot.load(std::memory_order_acquire))[id % page_entries].store(where,
                                                                   std::memory_order_release);
}

void exchange_parts::keep_early(parked& message) noexcept {
  context* where = nullptr;
  {
    const std::lock_guard guard(early_lock);
    where = find(message.context);  // it may have been opened meanwhile
    if (!where) {
      early.push_back(message);
      return;
    }
  }
  // Opened meanwhile; a receive may have been posted there already, so match as on arrival.
  request* r = nullptr;
  {
    const std::lock_guard guard(where->lock);
    r = where->waiting.take_posted(message.source, message.tag);
    if (r) {
      r->stage_ = request::stage::landing;
    } else {
      where->keep(message);
    }
  }
  if (r) receive_parked(*r, message);
}

void exchange_parts::arrived(packets::peer& from, std::span<const std::byte> bytes) noexcept {
  switch (static_cast<wire_kind>(bytes[offsetof(envelope, kind)])) {
    case wire_kind::eager:
      return arrived_eager(from, bytes);
    case wire_kind::request_to_send:
      return arrived_offer(from, bytes);
    case wire_kind::clear_to_send: {
      grant given;
      if (read_head(bytes, given)) return granted(from, given);
      break;
    }
    case wire_kind::credit_only:
      break;
  }
  base::log(base::severity::error, "rank {} sent a packet that is not understood ({} bytes)",
            static_cast<std::uint32_t>(from.id()), bytes.size());
}

void exchange_parts::arrived_eager(packets::peer& from, std::span<const std::byte> bytes) noexcept {
  envelope match;
  if (!read_head(bytes, match)) return;
  const auto payload = bytes.subspan(sizeof match);
  const int source = static_cast<int>(match.source);
  context* where = find(match.context);
  if (!where) {
    if (parked* message = park(from, match, payload)) keep_early(*message);
    return;
  }
  request* r = nullptr;
  {
    const std::lock_guard guard(where->lock);
    r = where->waiting.take_posted(source, match.tag);
    if (r) {
      r->stage_ = request::stage::landing;
    } else if (parked* message = park(from, match, payload)) {
      where->keep(*message);
      return;
    }
  }
  if (!r) {
    base::log(base::severity::error, "out of memory: a message of {} bytes from rank {} is lost",
              payload.size(), static_cast<std::uint32_t>(from.id()));
    return;
  }
  from.consumed(eager_charge(payload.size()));
  deliver(*r, source, match.tag, payload, match.given_up != 0);
}

void exchange_parts::arrived_offer(packets::peer& from, std::span<const std::byte> bytes) noexcept {
  offer offered;
  if (!read_head(bytes, offered)) return;
  parked* message = park(from, offered);
  if (!message) {
    base::log(base::severity::error, "out of memory: an offer from rank {} is lost",
              static_cast<std::uint32_t>(from.id()));
    return;
  }
  context* where = find(offered.match.context);
  if (!where) return keep_early(*message);
  request* r = nullptr;
  {
    const std::lock_guard guard(where->lock);
    r = where->waiting.take_posted(message->source, message->tag);
    if (!r) {
      where->keep(*message);
      return;
    }
    r->stage_ = request::stage::landing;
  }
  receive_parked(*r, *message);
}

void exchange_parts::receive_parked(request& r, parked& message) noexcept {
  if (message.is_offer) {
    accept(*message.from, r, message);
  } else {
    message.from->consumed_late(message.charge);
    deliver(r, message.source, message.tag, {message.data(), message.bytes}, message.given_up);
  }
  unpark(&message);
}

void exchange_parts::deliver(request& r, int source, int tag, std::span<const std::byte> payload,
                             bool given_up) noexcept {
  const std::size_t fits = std::min(payload.size(), r.bytes_);
  if (fits != 0) std::memcpy(r.data_, payload.data(), fits);
  const auto how = fits < payload.size() ? outcome::truncated : outcome::ok;
  r.arrived = {
      .source = source, .tag = tag, .bytes = fits, .how = given_up ? outcome::peer_lost : how};
  complete(r);
}

void exchange_parts::now_pending(request& r) noexcept {
  if (!r.background) return;
  r.counted_ = true;
  engine.pending_started();
}

void exchange_parts::complete(request& r) noexcept {
  const bool counted = r.counted_;
  r.counted_ = false;
  r.stage_ = request::stage::fresh;
  if (!r.finish || r.finish(r)) static_cast<progress::completion&>(r).complete();
  // `r` may be gone.
  if (counted) engine.pending_ended();
}

void exchange_parts::complete_at_once(request& r) noexcept {
  r.stage_ = request::stage::fresh;
  if (!r.finish || r.finish(r)) r.begin_done();
}

void exchange_parts::fail(request& r, outcome how) noexcept {
  r.arrived.how = how;
  complete(r);
}

void exchange_parts::lost(packets::peer& whom) noexcept {
  const auto involved = [&](const request& r) { return r.from_ == &whom; };
  while (request* r = sends.take_if(involved)) fail(*r, outcome::peer_lost);
  while (request* r = landings.take_if(involved)) {
    whom.rail().unland(static_cast<rails::landing_id>(r->id_));
    fail(*r, outcome::peer_lost);
  }
  for (auto& slot : pages) {
    page* entries = slot.load(std::memory_order_acquire);  // (E)
    if (!entries) continue;
    for (auto& entry : *entries) {
      context* where = entry.load(std::memory_order_acquire);  // (E)
      if (where) lost_in(*where, whom);
    }
  }
}

void context::wake_watches(int source, int tag) noexcept {
  for (watch* w = watches.front(); w;) {
    watch* following = watches.after(*w);
    if (w->wanted.admits(source, tag)) {
      watches.erase(*w);
      w->complete();  // `w` may be gone now
    }
    w = following;
  }
}

void context::wake_all_watches() noexcept {
  while (watch* w = watches.pop_front()) w->complete();
}

void exchange_parts::lost_in(context& where, packets::peer& whom) noexcept {
  const auto rank = std::ranges::find(where.ranks, &whom);
  if (rank == where.ranks.end()) return;
  const int lost_rank = static_cast<int>(rank - where.ranks.begin());
  bool counted = false;
  while (true) {
    request* r = nullptr;
    {
      const std::lock_guard guard(where.lock);
      if (!counted) {
        ++where.lost_ranks;
        where.wake_all_watches();
      }
      counted = true;
      r = where.waiting.take_posted_if([&](const request& posted) {
        return where.collective || posted.peer_rank_ == any_source ||
               posted.peer_rank_ == lost_rank;
      });
      if (!r) return;
      r->stage_ = request::stage::landing;
    }
    r->arrived = {.source = r->peer_rank_, .tag = r->tag_};
    fail(*r, outcome::peer_lost);
  }
}

}  // namespace headway::messages
