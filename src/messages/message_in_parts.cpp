// An eager message whose bytes arrive in parts, while its sender copies the next one. From the
// first part on it belongs to its receive; without one, it is matched when it is whole: nothing
// else comes from that process in between, so the order of its messages stays.
#include <algorithm>

#include "base/copy_between_cores.hpp"
#include "base/lock_guard.hpp"
#include "messages/events.hpp"
#include "messages/parts.hpp"

namespace headway::messages {

void exchange_parts::copy_part(request& r, std::size_t at,
                               std::span<const std::byte> part) noexcept {
  const auto room = r.room();
  const auto fits = part.first(std::min(part.size(), room - std::min(at, room)));
  if (fits.empty()) return;
  if (r.scattered) r.scattered->unpack(at, fits);
  else base::copy_from_writer(r.memory.data() + at, fits.data(), fits.size());
}

packets::packet_in_parts exchange_parts::begun(packets::peer& from,
                                               std::span<const std::byte> bytes,
                                               std::size_t following) noexcept {
  envelope head;
  if (!read_head(bytes, head) || head.kind != wire_kind::eager) {
    from.give_up("it sent a packet in parts that is no message");
    return {};
  }
  const auto part = bytes.subspan(sizeof head);
  const auto whole = part.size() + following;
  if (request* r = take_posted(find(head.context), head)) {
    const auto room = r->room();
    check_length(*r, head.tag, whole);
    r->arrived = {.source = rank_in(head.source),
                  .tag = head.tag,
                  .bytes = std::min(whole, room),
                  .how = whole > room ? outcome::truncated : outcome::ok};
    copy_part(*r, 0, part);
    now_pending(*r);
    return {.expected = r, .bytes = whole};
  }
  events::unexpected.raise({static_cast<std::uint64_t>(rank_in(head.source)),
                            static_cast<std::uint64_t>(head.tag), whole, head.context});
  unexpected_message* message = make_unexpected(from, head, whole);
  if (!message) {
    from.give_up(no_memory_to_keep);
    return {};
  }
  base::copy_from_writer(message->data(), part.data(), part.size());
  return {.unexpected = message, .bytes = whole};
}

void exchange_parts::continued(packets::peer& from, const packets::packet_in_parts& what,
                               std::span<const std::byte> bytes, std::size_t following) noexcept {
  const auto at = what.bytes - following - bytes.size();
  if (auto* r = static_cast<request*>(what.expected)) {
    copy_part(*r, at, bytes);
    if (following != 0) return;
    from.consumed(eager_charge(what.bytes));
    complete(*r);
  } else if (auto* message = static_cast<unexpected_message*>(what.unexpected)) {
    base::copy_from_writer(message->data() + at, bytes.data(), bytes.size());
    if (following != 0) return;
    context* where = find(message->context);
    if (where) return match(*where, *message);
    keep_early(*message);
  }
}

void exchange_parts::broken_off(const packets::packet_in_parts& what) noexcept {
  if (what.expected) fail(*static_cast<request*>(what.expected), outcome::peer_lost);
  if (what.unexpected) free_unexpected(static_cast<unexpected_message*>(what.unexpected));
}

}  // namespace headway::messages
