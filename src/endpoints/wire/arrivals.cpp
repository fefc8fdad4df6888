#include "endpoints/wire/arrivals.hpp"

#include <algorithm>
#include <cstddef>

#include "base/copy_small.hpp"

namespace headway::endpoints {

// A message makes this way alone: its functions are one, so that none saves what the others use.

[[gnu::always_inline]] inline void arrivals::arrived_message(
    const envelope& what, std::span<const std::byte> payload) noexcept {
  block* b = buffers_.request(payload.size());
  if (!b) return remotes_[what.from.process].lack_memory(what.from.process, payload.size());
  base::copy_small(b->data(), payload.data(), payload.size());
  if (buffers_.checks()) b->checksum = checksum(*b, payload.size());
  parcel& p = b->waits;
  p.contents = b;
  p.bytes = payload.size();
  p.from = what.from;
  p.tag = what.tag;
  p.charge = what.charge;
  p.lent = false;
  p.ready = true;
  if (!by_.here.deliver(what.to, p)) by_.here.drop(p);
}

[[gnu::always_inline]] inline void arrivals::arrived_data(
    std::uint32_t from, std::span<const std::byte> bytes) noexcept {
  message_head head;
  if (!read_head(bytes, head)) return;
  arrived_message({{from, head.from}, head.to, head.tag, head.charge}, bytes.subspan(sizeof head));
}

void arrivals::arrived(packets::peer& whom, std::span<const std::byte> bytes) noexcept {
  const auto from = static_cast<std::uint32_t>(whom.id());
  HEADWAY_DEBUG_ASSERT(from < remotes_.size() && bytes.size() >= sizeof(packets::stream_head));
  if (!remotes_[from].met.load(std::memory_order_acquire)) [[unlikely]]  // (E)
    by_.packets.meet(from);
  const auto kind = static_cast<wire_kind>(bytes[offsetof(message_head, kind)]);
  if (kind == wire_kind::data) [[likely]]
    return arrived_data(from, bytes);
  arrived_other(from, kind, bytes);
}

void arrivals::arrived_other(std::uint32_t from, wire_kind kind,
                             std::span<const std::byte> bytes) noexcept {
  message_head head;
  switch (kind) {
    case wire_kind::data:  // above
      return;
    case wire_kind::shared:
      return arrived_shared(from, bytes);
    case wire_kind::announced:
      return by_.bulk.arrived_announcement(from, bytes);
    case wire_kind::credit:
      if (read_head(bytes, head)) arrived_credit(from, head);
      return;
    case wire_kind::gone:
      if (read_head(bytes, head)) arrived_gone(from, head);
      return;
    case wire_kind::name_add:
    case wire_kind::name_added:
    case wire_kind::name_ask:
    case wire_kind::name_told:
    case wire_kind::name_forget:
    case wire_kind::name_remove:
    case wire_kind::name_removed: {
      name_head asked;
      std::string_view name;
      if (read_name(bytes, asked, name)) return by_.directory.arrived(from, asked, name);
      break;
    }
    case wire_kind::region_offered:
    case wire_kind::region_answer:
      return by_.regions.arrived(from, bytes);
    case wire_kind::packed:
      return arrived_packed(from, bytes);
    case wire_kind::zone_opened:
      return by_.bulk.arrived_zone(from, bytes);
    case wire_kind::leaving:
      return by_.losses.lose(from);
  }
  remotes_[from].complain(from, "a packet for an end-point that is not understood");
}

void arrivals::arrived_packed(std::uint32_t from, std::span<const std::byte> bytes) noexcept {
  auto rest = bytes.subspan(std::min(bytes.size(), sizeof(plain_head)));
  packed_entry head;
  while (read_head(rest, head)) {
    rest = rest.subspan(sizeof head);
    if (head.bytes > rest.size()) break;
    arrived_message({{from, head.from}, head.to, head.tag, head.charge}, rest.first(head.bytes));
    rest = rest.subspan(head.bytes);
  }
  if (!rest.empty()) remotes_[from].complain(from, "messages that do not fill their packet");
}

void arrivals::arrived_shared(std::uint32_t from, std::span<const std::byte> bytes) noexcept {
  shared_head head;
  if (!read_head(bytes, head)) return;
  const bool lent = (head.place & 1) != 0;
  region* where = by_.regions.shared_by(from, head.owner);
  block* b = where ? where->checked(head.place & ~std::uint64_t{1}, head.bytes) : nullptr;
  if (!b || !ownership::land(*b, lent))
    return remotes_[from].complain(from, "a buffer that is not on its way here");
  parcel* p = by_.here.wrap({.header = b, .lent = lent}, false);
  if (!p) {
    remotes_[from].lack_memory(from, head.bytes);
    return buffers_.end_message(*b, lent);
  }
  p->bytes = head.bytes;
  p->from = {from, head.message.from};
  p->tag = head.message.tag;
  p->charge = head.message.charge;
  p->ready = true;
  if (!by_.here.deliver(head.message.to, *p)) by_.here.drop(*p);
}

void arrivals::arrived_credit(std::uint32_t from, const message_head& head) noexcept {
  remote_endpoint* at = remotes_[from].endpoints.find(head.from);
  if (at && head.tag > 0)
    at->give_back(head.from, static_cast<std::uint32_t>(head.tag), window_units_);
}

void arrivals::arrived_gone(std::uint32_t from, const message_head& head) noexcept {
  remote_endpoint* at = remotes_[from].endpoints.find(head.to);
  if (!at) return;
  by_.directory.forget({from, head.to});
  at->close(head.to);
}

void arrivals::lost(packets::peer& whom) noexcept {
  by_.losses.lose(static_cast<std::uint32_t>(whom.id()));
}

}  // namespace headway::endpoints
