#include "endpoints/wire/arrivals.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/copy_small.hpp"

namespace headway::endpoints {

namespace {

/// A message whose bytes are kept on the heap until there is a buffer for them.
struct waiting_message final : buffer_request {
  delivery* here = nullptr;
  pool* buffers = nullptr;
  block* bytes_at = nullptr;  ///< its parcel is that in the inbox

  static void got_buffer(buffer_request& one, block* got) noexcept {
    auto& me = static_cast<waiting_message&>(one);
    parcel& p = me.bytes_at->waits;
    if (got) {
      std::memcpy(got->data(), me.bytes_at->data(), me.bytes);
      if (me.buffers->checks()) got->checksum = checksum(*got, me.bytes);
      p.contents = got;
    }
    if (!me.here->bytes_arrived(me.to, p, got != nullptr)) me.here->drop(p);
    delete &me;
  }
};

}  // namespace

// The path of a small message is one function, so that no part saves the registers of another.

[[gnu::always_inline]] inline void arrivals::arrived_message(
    const envelope& what, std::span<const std::byte> payload) noexcept {
  block* b =
      by_.waiting.must_wait(what.to) ? nullptr : buffers_.request_for_arrival(payload.size());
  if (!b) [[unlikely]]
    return wait_for_buffer(what, payload);
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

void arrivals::wait_for_buffer(const envelope& what, std::span<const std::byte> payload) noexcept {
  const auto from = what.from.process;
  remotes_[from].lack_memory(from, payload.size());
  block& kept = pool::heap_block(payload.size());
  if (!payload.empty()) std::memcpy(kept.data(), payload.data(), payload.size());
  parcel& p = kept.waits;
  p.contents = nullptr;
  p.bytes = payload.size();
  p.from = what.from;
  p.tag = what.tag;
  p.charge = what.charge;
  p.lent = false;
  p.ready = false;
  if (!by_.here.deliver(what.to, p)) return by_.here.drop(p);
  auto* one = new waiting_message;
  one->from = from;
  one->to = what.to;
  one->bytes = payload.size();
  one->granted = &waiting_message::got_buffer;
  one->here = &by_.here;
  one->buffers = &buffers_;
  one->bytes_at = &kept;
  if (by_.waiting.add(*one)) return;
  remotes_[from].complain(from, "more messages than its window admits");
  waiting_message::got_buffer(*one, nullptr);
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
    case wire_kind::lent:
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
  const bool lent = head.message.kind == wire_kind::lent;
  region* where = by_.regions.shared_by(from, head.owner);
  block* b = where ? where->checked(head.place, head.bytes) : nullptr;
  if (!b || !ownership::land(*b, lent))
    return remotes_[from].complain(from, "a buffer that is not on its way here");
  block::elsewhere.returns();
  parcel& p = by_.here.wrap({.header = b, .lent = lent}, false);
  p.bytes = head.bytes;
  p.from = {from, head.message.from};
  p.tag = head.message.tag;
  p.charge = head.message.charge;
  p.ready = true;
  if (!by_.here.deliver(head.message.to, p)) by_.here.drop(p);
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
