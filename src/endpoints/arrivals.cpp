// What comes from other processes, and their end. In the reaper's rounds: nothing here waits.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/copy_small.hpp"
#include "base/log.hpp"
#include "endpoints/parts.hpp"

namespace headway::endpoints {

// A message makes this way alone: its functions are one, so that none saves what the others use.

[[gnu::always_inline]] inline bool service_parts::hand_in(std::uint32_t to, parcel& p) noexcept {
  local_endpoint* e = local(to);
  const auto sender = p.from.process;  // `p` may be received when the lock is free
  bool found = false, run = false;
  std::uint32_t due = 0;
  if (e) {
    woken then;
    const std::scoped_lock guard(e->box.lock);
    found = e->box.id == to;
    if (found) {
      std::uint32_t& owed = e->box.owed_to(sender);  // who sends here is told when it closes
      const bool kept = e->box.put(p, then);
      // A receiver has it: it need not take the lock for that once more.
      if (!kept) due = owe(owed, std::exchange(p.charge, std::uint16_t{0}));
      run = kept && p.ready && e->by.call && !e->runnable;
      if (run) e->runnable = true;
    }
  }
  if (run) dispatch.ready(*e);
  give_credit(to, sender, due);
  if (!found) tell(sender, message_head{.kind = wire_kind::gone, .to = to});
  return found;
}

[[gnu::always_inline]] inline void service_parts::arrived_message(
    pool& own, const arrival& what, std::span<const std::byte> payload) noexcept {
  block* b = own.request(payload.size());
  if (!b) {
    lack_memory(what.from.process, payload.size());
    return;
  }
  base::copy_small(b->data(), payload.data(), payload.size());
  if (own.checks()) b->checksum = pool::checksum(*b, payload.size());
  parcel& p = b->waits;
  p.contents = b;
  p.bytes = payload.size();
  p.from = what.from;
  p.tag = what.tag;
  p.charge = what.charge;
  p.lent = false;
  p.ready = true;
  if (!hand_in(what.to, p)) drop(p);
}

[[gnu::always_inline]] inline void service_parts::arrived_data(
    pool& own, std::uint32_t from, std::span<const std::byte> bytes) noexcept {
  message_head head;
  if (!read_head(bytes, head)) return;
  arrived_message(own, {{from, head.from}, head.to, head.tag, head.charge},
                  bytes.subspan(sizeof head));
}

bool service_parts::put(std::uint32_t to, parcel& p) noexcept { return hand_in(to, p); }

void service_parts::arrived(packets::peer& whom, std::span<const std::byte> bytes) noexcept {
  const auto from = static_cast<std::uint32_t>(whom.id());
  wake_up();
  pool* own = buffers();
  if (!own) return;
  if (!neighbours[from].acquainted.load(std::memory_order_relaxed))  // facts, see neighbour
    neighbours[from].acquainted.store(true, std::memory_order_relaxed);
  const auto kind = static_cast<wire_kind>(bytes[offsetof(message_head, kind)]);
  if (kind == wire_kind::data) [[likely]]
    return arrived_data(*own, from, bytes);
  arrived_other(from, kind, bytes);
}

/// Apart from messages, which are nearly all that comes.
void service_parts::arrived_other(std::uint32_t from, wire_kind kind,
                                  std::span<const std::byte> bytes) noexcept {
  message_head head;
  switch (kind) {
    case wire_kind::data:  // above
      return;
    case wire_kind::shared:
      return arrived_shared(from, bytes);
    case wire_kind::announced:
      return arrived_announced(from, bytes);
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
      if (read_name(bytes, asked, name)) return directory_of_names.arrived(from, asked, name);
      break;
    }
    case wire_kind::region_offered:
    case wire_kind::region_answer:
      return arrived_region(from, bytes);
    case wire_kind::packed:
      return arrived_packed(from, bytes);
    case wire_kind::room_opened:
      return arrived_room(from, bytes);
    case wire_kind::leaving:
      return lose(from);
  }
  complain(from, "a packet for an end-point that is not understood");
}

void service_parts::complain(std::uint32_t of, const char* what) noexcept {
  constexpr int complaints_max = 8;
  if (neighbours[of].complaints.fetch_add(1, std::memory_order_relaxed) <
      complaints_max)  // a number
    base::log(base::severity::error, "rank {} sent {}", of, what);
}

void service_parts::lack_memory(std::uint32_t of, std::uint64_t bytes) noexcept {
  constexpr int complaints_max = 64;
  if (neighbours[of].complaints.fetch_add(1, std::memory_order_relaxed) <
      complaints_max)  // a number
    base::log(base::severity::error,
              "end-points: no memory, a message of {} bytes from rank {} is lost", bytes, of);
}

void service_parts::arrived_packed(std::uint32_t from, std::span<const std::byte> bytes) noexcept {
  auto rest = bytes.subspan(std::min(bytes.size(), sizeof(plain_head)));
  packed_entry head;
  while (read_head(rest, head)) {
    rest = rest.subspan(sizeof head);
    if (head.bytes > rest.size()) break;
    arrived_message(*buffers(), {{from, head.from}, head.to, head.tag, head.charge},
                    rest.first(head.bytes));
    rest = rest.subspan(head.bytes);
  }
  if (!rest.empty()) complain(from, "messages that do not fill their packet");
}

void service_parts::arrived_shared(std::uint32_t from, std::span<const std::byte> bytes) noexcept {
  shared_head head;
  if (!read_head(bytes, head)) return;
  const bool lent = (head.place & 1) != 0;
  region* where = share && same_node(from) ? buffers()->region_of(head.owner) : nullptr;
  block* b = where ? where->checked(head.place & ~std::uint64_t{1}, head.bytes) : nullptr;
  if (!b || !pool::lands(*b, lent)) {
    complain(from, "a buffer that is none");
    return;
  }
  parcel* p = wrap({.header = b, .lent = lent}, false);
  if (!p) {
    lack_memory(from, head.bytes);
    return buffers()->arrived_nowhere(*b, lent);
  }
  p->bytes = head.bytes;
  p->from = {from, head.message.from};
  p->tag = head.message.tag;
  p->charge = head.message.charge;
  p->ready = true;
  if (!put(head.message.to, *p)) drop(*p);
}

void service_parts::arrived_credit(std::uint32_t from, const message_head& head) noexcept {
  auto* all = neighbours[from].endpoints.load(std::memory_order_acquire);  // (N)
  remote_endpoint* at = all ? all->find(slot_of(head.from)) : nullptr;
  if (at && head.tag > 0) return_credit(*at, head.from, static_cast<std::uint32_t>(head.tag));
}

void service_parts::arrived_gone(std::uint32_t from, const message_head& head) noexcept {
  auto* all = neighbours[from].endpoints.load(std::memory_order_acquire);  // (N)
  remote_endpoint* at = all ? all->find(slot_of(head.to)) : nullptr;
  if (!at) return;
  directory_of_names.forget({from, head.to});
  woken then;
  const std::scoped_lock guard(at->lock);
  if (at->id.load(std::memory_order_relaxed) != head.to) return;
  at->gone.store(true, std::memory_order_relaxed);
  while (waiting_thread* w = at->senders.pop_front()) then.add(*w);
}

void service_parts::arrived_region(std::uint32_t from, std::span<const std::byte> bytes) noexcept {
  plain_head head;
  region_offer offer;
  if (!read_head(bytes, head) || head.process >= peers.size()) return;
  if (head.kind == wire_kind::region_answer) {
    const auto said = head.value == 1 ? neighbour::answer::yes : neighbour::answer::no;
    auto& n = neighbours[from];
    if (head.process == self) return n.region.store(said, std::memory_order_relaxed);  // a fact
    const std::scoped_lock guard(n.lock);
    n.regions[head.process] = said;
    return;
  }
  if (!read_head(bytes.subspan(sizeof head), offer)) return;
  bool well = offer.owner == head.process && share && same_node(from);
  if (well) {
    const auto mapped = buffers()->map(offer);
    well = mapped.has_value();
    if (!well)
      base::log(base::severity::info, "buffers of rank {} cannot be read in place: {}", offer.owner,
                mapped.error().text);
  }
  tell(from,
       plain_head{
           .kind = wire_kind::region_answer, .process = head.process, .value = well ? 1u : 0u});
}

void service_parts::lost(packets::peer& whom) noexcept {
  lose(static_cast<std::uint32_t>(whom.id()));
}

void service_parts::lose(std::uint32_t process) noexcept {
  auto& n = neighbours[process];
  if (n.lost.exchange(true, std::memory_order_relaxed)) return;  // one caller goes on
  directory_of_names.lost(process);
  n.large.forget_there();
  if (auto* all = n.endpoints.load(std::memory_order_acquire))  // (N)
    for (std::uint32_t slot = 0; slot < slots_max; slot += 1) {
      remote_endpoint* at = all->find(slot);
      if (!at) {
        slot |= 255;  // the rest of a page that was never made
        continue;
      }
      woken then;
      const std::scoped_lock guard(at->lock);
      at->gone.store(true, std::memory_order_relaxed);
      while (waiting_thread* w = at->senders.pop_front()) then.add(*w);
    }
  if (pool* p = pool_seen.load(std::memory_order_acquire)) p->reclaim(process);  // (B)
}

}  // namespace headway::endpoints
