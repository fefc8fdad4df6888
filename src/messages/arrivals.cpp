// Packets that arrive: each is matched with its receive, or kept until that is posted.
#include <algorithm>
#include <new>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/copy_between_cores.hpp"
#include "base/lock_guard.hpp"
#include "base/log.hpp"
#include "messages/events.hpp"
#include "messages/parts.hpp"

namespace headway::messages {

exchange_parts::~exchange_parts() {
  while (unexpected_message* message = early.pop_front()) free_unexpected(message);
  for (auto& slot : pages) delete slot.load(std::memory_order_relaxed);  // no other thread is left
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
  base::intrusive_list<unexpected_message> notices;
  {
    const base::lock_guard guard(early_lock);
    for (unexpected_message* message = early.front(); where && message;) {
      unexpected_message* following = early.after(*message);
      if (message->context == id) {
        early.erase(*message);
        const base::lock_guard its(where->lock);
        if (message->is_notice) notices.push_back(*message);
        else where->waiting.add_unexpected(*message);
      }
      message = following;
    }
    auto& entry = (*slot.load(std::memory_order_acquire))[id % page_entries];
    HEADWAY_ASSERT((entry.load(std::memory_order_relaxed) == nullptr) == (where != nullptr));
    entry.store(where, std::memory_order_release);  // (E)
  }
  while (unexpected_message* notice = notices.pop_front())
    failing.take_early_notice(*where, *notice);
}

void exchange_parts::keep_early(unexpected_message& message) noexcept {
  context* where = nullptr;
  {
    const base::lock_guard guard(early_lock);
    where = find(message.context);  // it may have been opened meanwhile
    if (!where) {
      early.push_back(message);
      return;
    }
  }
  if (message.is_notice) return failing.take_early_notice(*where, message);
  match(*where, message);  // a receive may have been posted there already
}

void exchange_parts::match(context& where, unexpected_message& message) noexcept {
  request* r = nullptr;
  bool discarded = false, bins_short = false;
  {
    const base::lock_guard guard(where.lock);
    r = where.waiting.take_posted(message.matched_source(), message.tag);
    discarded = !r && where.discards(message);
    if (r) {
      where.taken(*r);
    } else if (!discarded) {
      where.keep(message);
      bins_short = where.waiting.bins_wanted() != 0;
    }
  }
  if (bins_short) where.widen();
  if (discarded) return failing.discard(where, message);
  if (r) receive_unexpected(*r, message);
}

void exchange_parts::arrived(packets::peer& from, std::span<const std::byte> bytes) noexcept {
  const auto kind = static_cast<wire_kind>(bytes[offsetof(envelope, kind)]);
  if (kind == wire_kind::eager) [[likely]]
    return arrived_eager(from, bytes);
  arrived_other(kind, from, bytes);
}

void exchange_parts::arrived_other(wire_kind kind, packets::peer& from,
                                   std::span<const std::byte> bytes) noexcept {
  switch (kind) {
    case wire_kind::eager:  // above
      return;
    case wire_kind::request_to_send:
      return arrived_rts(from, bytes);
    case wire_kind::given_up:
      return failing.arrived_given_up(from, bytes);
    case wire_kind::inquiry:
      return failing.arrived_inquiry(from, bytes);
    case wire_kind::misfit:
      return failing.arrived_misfit(from, bytes);
  }
  base::log(base::severity::error, "peer {} sent a packet that is not understood ({} bytes)",
            static_cast<std::uint32_t>(from.id()), bytes.size());
}

void exchange_parts::arrived_eager(packets::peer& from, std::span<const std::byte> bytes) noexcept {
  envelope head;
  if (!read_head(bytes, head)) return;
  const auto payload = bytes.subspan(sizeof head);
  const int source = rank_in(head.source);
  context* where = find(head.context);
  if (request* r = take_posted(where, head)) {
    from.consumed(eager_charge(payload.size()));
    return deliver(*r, source, head.tag, payload, head.given_up != 0);
  }
  keep_eager(from, where, head, payload);
}

void exchange_parts::keep_eager(packets::peer& from, context* where, const envelope& head,
                                std::span<const std::byte> payload) noexcept {
  const int source = rank_in(head.source);
  events::unexpected.raise({static_cast<std::uint64_t>(source),
                            static_cast<std::uint64_t>(head.tag), payload.size(), head.context});
  // Copied without the lock: `match` finds a receive that is posted meanwhile.
  unexpected_message* message = make_unexpected(from, head, payload);
  if (!message) return from.give_up(no_memory_to_keep);
  if (where) return match(*where, *message);
  keep_early(*message);
}

void exchange_parts::arrived_rts(packets::peer& from, std::span<const std::byte> bytes) noexcept {
  rts announced;
  if (!read_head(bytes, announced)) return;
  context* where = find(announced.match.context);
  if (request* r = take_posted(where, announced.match)) return accept(from, *r, announced);
  events::unexpected.raise({static_cast<std::uint64_t>(rank_in(announced.match.source)),
                            static_cast<std::uint64_t>(announced.match.tag), announced.bytes,
                            announced.match.context});
  // Made without the lock: `match` finds a receive that is posted meanwhile.
  unexpected_message* message = make_unexpected(from, announced);
  if (!message) return from.give_up("no memory to keep a request to send");
  if (keeps_times.load(std::memory_order_relaxed)) [[unlikely]]
    message->announced_ns = base::machine_now_ns();
  if (where) return match(*where, *message);
  keep_early(*message);
}

void exchange_parts::receive_at_once(context& where, request& r,
                                     unexpected_message* message) noexcept {
  if (message) where.waiting.remove_unexpected(*message);
  const bool hopeless = where.hopeless(r.peer_rank_);
  where.lock.unlock();
  if (message) return receive_unexpected(r, *message);
  r.arrived = {.source = r.peer_rank_, .tag = r.tag_};
  fail(r, hopeless ? outcome::peer_lost : outcome::failed);
}

void exchange_parts::receive_unexpected(request& r, unexpected_message& message) noexcept {
  if (message.is_rts) {
    if (r.times) [[unlikely]]
      r.times->announced_ns = message.announced_ns;
    accept(*message.from, r,
           {.match = {.given_up = message.given_up,
                      .source = static_cast<std::uint32_t>(message.source),
                      .tag = message.tag},
            .bytes = message.bytes,
            .message = message.announced});
  } else {
    message.from->consumed_late(message.charge);
    deliver(r, message.source, message.tag, {message.data(), message.bytes}, message.given_up);
  }
  free_unexpected(&message);
}

void exchange_parts::deliver_otherwise(request& r, int source, int tag,
                                       std::span<const std::byte> payload, bool given_up) noexcept {
  const auto fits = payload.first(std::min(payload.size(), r.room()));
  if (!given_up) check_length(r, tag, payload.size());
  if (r.scattered) r.scattered->unpack_whole(fits);
  else base::copy_from_writer(r.memory.data(), fits.data(), fits.size());
  const auto how = fits.size() < payload.size() ? outcome::truncated : outcome::ok;
  r.arrived = {.source = source,
               .tag = tag,
               .bytes = fits.size(),
               .how = given_up ? outcome::peer_lost : how};
  complete(r);
}

void exchange_parts::now_pending(request& r) noexcept {
  if (!r.background || r.counted_) return;
  r.counted_ = true;
  engine.pending_started();
}

void exchange_parts::complete_at_once(request& r) noexcept {
  if (!r.finish || r.finish(r)) r.begin_done();
}

void exchange_parts::fail(request& r, outcome how) noexcept {
  r.arrived.how = how;
  complete(r);
}

void exchange_parts::lost(packets::peer& peer) noexcept {
  for (auto& slot : pages) {
    page* entries = slot.load(std::memory_order_acquire);  // (E)
    if (!entries) continue;
    for (auto& entry : *entries) {
      context* where = entry.load(std::memory_order_acquire);  // (E)
      if (where) lost_in(*where, peer);
    }
  }
}

packets::peer& context::look_up(std::size_t rank) noexcept {
  packets::peer& found = parts.peers.at((*members)[static_cast<int>(rank)]);
  if (rank < used_.size()) used_[rank].store(&found, std::memory_order_release);  // (U)
  return found;
}

void context::widen() noexcept {
  std::size_t wanted = 0;
  {
    const base::lock_guard guard(lock);
    wanted = waiting.bins_wanted();
  }
  if (wanted == 0) return;
  auto bins = matcher::bins::make(wanted);  // these, or the old ones, are freed after the lock
  const base::lock_guard guard(lock);
  waiting.widen(bins);
}

bool context::hopeless(int source) const noexcept {
  if (!has_lost) return false;
  return collective || source == any_source || lost(source);
}

bool context::note_given_up(int tag) noexcept {
  if (gave_up(tag)) return false;
  given_up_[given_up_count++ % given_up_max] = tag;
  return true;
}

bool context::is_given_up(int tag) const noexcept {
  if (log->is_broken() && operation_tags.has(tag)) return true;
  const auto known = std::min(given_up_count, given_up_max);
  const auto end = given_up_.begin() + known;
  return std::find(given_up_.begin(), end, tag) != end;
}

bool context::discards(const unexpected_message& message) const noexcept {
  return collective && ((message.is_rts && has_lost) || gave_up(message.tag));
}

bool context::lost(int rank) const noexcept {
  const packets::peer* used = parts.peers.find((*members)[rank]);
  return used && used->lost();
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

void exchange_parts::lost_in(context& where, packets::peer& peer) noexcept {
  const auto lost_rank = where.members->rank_of(peer.id());
  if (!lost_rank) return;
  bool noted = false;
  while (true) {
    request* r = nullptr;
    {
      const base::lock_guard guard(where.lock);
      if (!noted) {
        where.has_lost = true;
        where.wake_all_watches();
      }
      noted = true;
      r = where.waiting.take_posted_if([&](const request& posted) {
        return where.collective || posted.peer_rank_ == any_source ||
               posted.peer_rank_ == *lost_rank;
      });
      if (!r) return;
      where.taken(*r);
    }
    r->arrived = {.source = r->peer_rank_, .tag = r->tag_};
    fail(*r, outcome::peer_lost);
  }
}

}  // namespace headway::messages
