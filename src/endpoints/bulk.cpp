// Messages too large for a packet, to processes that do not share memory with us: announced to the
// end-point, then sent by `messages`, which divides them over rails and lets them land in place; or
// sent at once into a room that their receiver has opened (rooms.hpp).
#include <atomic>
#include <new>

#include "endpoints/parts.hpp"
#include "endpoints/tunables.hpp"

namespace headway::endpoints {
namespace {

constexpr std::uint32_t transfer_mask = 0x3fffffff;  // tags are not negative
constexpr std::uint32_t announced_max = 65536;       // by a process; windows keep it far below

}  // namespace

struct bulk_send : messages::request, base::list_hook<by_service> {
  explicit bulk_send(service_parts& of) noexcept : parts(&of) { of.sends_under_way.add(*this); }
  ~bulk_send() { parts->sends_under_way.remove(*this); }

  service_parts* const parts;
  block* contents = nullptr;
  bool lent = false;
  // Its end, and the return of the call that starts it, which may come later when the peer dies
  // meanwhile. (D): each release is seen by the one that deletes.
  std::atomic<int> holds{2};

  void drop() noexcept {
    if (holds.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;  // (D)
  }
  static bool ended(messages::request& self) noexcept {
    auto& me = static_cast<bulk_send&>(self);
    me.parts->buffers()->arrived_nowhere(*me.contents, me.lent);
    me.parts->bulk_sends.fetch_sub(1, std::memory_order_relaxed);  // a number
    me.drop();
    return false;
  }
};

struct bulk_receive : messages::request, base::list_hook<by_service> {
  bulk_receive(service_parts& of, std::uint32_t process) noexcept : parts(&of), from(process) {
    finish = &bulk_receive::ended;
    of.receives_under_way.add(*this);
  }
  ~bulk_receive() { parts->receives_under_way.remove(*this); }

  service_parts* const parts;
  const std::uint32_t from;
  block* room = nullptr;
  std::uint32_t to = 0;
  bool announced = false;  ///< else a room that nothing was sent to yet
  bool kept = false;       ///< its parcel waits in the inbox

  static bool ended(messages::request& self) noexcept {
    auto& me = static_cast<bulk_receive&>(self);
    if (!me.announced) {  // its sender is lost, or says more than is true
      me.parts->neighbours[me.from].large.forget_here(me);
      me.parts->free_room(&me);
      return false;
    }
    me.parts->bulk_ended(me);
    delete &me;
    return false;
  }
};

outcome service_parts::post_bulk(const sending& what, const pool::found& f,
                                 std::uint32_t charge) noexcept {
  auto* way = exchange.load(std::memory_order_acquire);  // (X)
  if (!way) return outcome::not_joined;
  auto* item = make_record<outgoing_message>();
  auto* bulk = new (std::nothrow) bulk_send(*this);
  if (!item || !bulk) {
    if (item) finish(*item);
    delete bulk;
    return outcome::no_memory;
  }
  const auto transfer = transfers.fetch_add(1, std::memory_order_relaxed) & transfer_mask;
  const auto room = neighbours[what.to.process].large.take_there(what.bytes);
  write_head(*item, bulk_head{.message = {.kind = wire_kind::announced,
                                          .charge = static_cast<std::uint16_t>(charge),
                                          .to = what.to.id,
                                          .from = what.from,
                                          .tag = what.tag},
                              .transfer = transfer,
                              .bytes = what.bytes,
                              .room = room.zone,
                              .uses = room.suits ? 1u : 0u});
  const auto answer = post_in_order(what.to.process, *item);
  if (answer != packets::posted::pending) finish(*item);
  if (answer == packets::posted::down) {
    delete bulk;
    return outcome::gone;
  }
  bulk->contents = f.header;
  bulk->lent = what.keep || f.lent;
  bulk->finish = &bulk_send::ended;
  bulk_sends.fetch_add(1, std::memory_order_relaxed);             // a number
  auto& context = *bulk_context.load(std::memory_order_relaxed);  // carried by (X)
  const std::span<const std::byte> data(f.header->data(), what.bytes);
  const auto process = static_cast<int>(what.to.process);
  if (room.suits) way->send_to_zone(context, *bulk, data, process, rails::landing_id{room.zone});
  else way->send(context, *bulk, data, process, static_cast<int>(transfer));
  bulk->drop();
  // The buffer may be free by now.
  if (room_due.load(std::memory_order_relaxed) == what.to.process) open_room_that_is_due();
  return outcome::ok;
}

void service_parts::arrived_announced(std::uint32_t from,
                                      std::span<const std::byte> bytes) noexcept {
  bulk_head head;
  if (!read_head(bytes, head)) return;
  auto* way = exchange.load(std::memory_order_acquire);  // (X)
  auto& n = neighbours[from];
  if (n.announced.load(std::memory_order_relaxed) >= announced_max)  // a number
    return complain(from, "more announcements than it may");
  bulk_receive* opened = n.large.take_here(head.room);
  if (head.uses != 0 && way) {
    if (opened && head.bytes != 0 && head.bytes <= opened->room->capacity())
      return arrived_in_room(*way, *opened, head);
    if (!stopped.load(std::memory_order_relaxed))  // they are closed then
      complain(from, "a message for a room that there is not");
  }
  if (opened) close_room(*way, from, head.room);
  if (head.uses != 0) return;
  auto* r = way ? new (std::nothrow) bulk_receive(*this, from) : nullptr;
  if (!r) return;
  r->room = buffers()->request(head.bytes);
  std::span<std::byte> room;
  if (r->room) room = {r->room->data(), head.bytes};
  else lack_memory(from, head.bytes);
  announce(*r, head);
  // Received in any case: its sender waits for that.
  way->receive(*bulk_context.load(std::memory_order_relaxed), *r, room,  // carried by (X)
               static_cast<int>(from), static_cast<int>(head.transfer & transfer_mask));
  want_room(from, head.bytes);
}

/// Into the inbox, where it waits for its bytes.
void service_parts::announce(bulk_receive& r, const bulk_head& head) noexcept {
  neighbours[r.from].announced.fetch_add(1, std::memory_order_relaxed);  // a number
  r.announced = true;
  r.to = head.message.to;
  if (!r.room) return;
  parcel& p = r.room->waits;
  p.contents = r.room;
  p.bytes = head.bytes;
  p.from = {r.from, head.message.from};
  p.tag = head.message.tag;
  p.charge = head.message.charge;
  p.lent = false;
  p.ready = false;
  r.kept = put(head.message.to, p);
}

void service_parts::bulk_ended(bulk_receive& r) noexcept {
  neighbours[r.from].announced.fetch_sub(1, std::memory_order_relaxed);  // a number
  if (!r.room) return;
  const bool well = r.arrived.how == messages::outcome::ok;
  if (well && buffers()->checks()) r.room->checksum = pool::checksum(*r.room, r.room->waits.bytes);
  local_endpoint* e = r.kept ? local(r.to) : nullptr;
  bool there = false, run = false;
  if (e) {
    woken then;
    const std::scoped_lock guard(e->box.lock);
    there = e->box.id == r.to && well;
    if (there) {
      e->box.now_ready(r.room->waits, then);
      run = e->by.call && !e->runnable && !e->box.empty();
      if (run) e->runnable = true;
    } else if (e->box.id == r.to) {
      e->box.withdraw(r.room->waits);
    }
  }
  if (run) dispatch.ready(*e);
  if (!there) buffers()->arrived_nowhere(*r.room, false);
}

template <class Transfer>
void transfers_under_way<Transfer>::add(Transfer& one) noexcept {
  const std::scoped_lock guard(lock);
  all.push_back(one);
}

template <class Transfer>
void transfers_under_way<Transfer>::remove(Transfer& one) noexcept {
  const std::scoped_lock guard(lock);
  all.erase(one);
}

/// Of those that will have no end: their other process has died, and nobody told us in time.
void service_parts::forget_transfers() noexcept {
  while (auto* s = sends_under_way.all.front()) delete s;
  while (auto* r = receives_under_way.all.front()) delete r;
}

// ---- rooms opened ahead ------------------------------------------------------------------------

void service_parts::arrived_in_room(messages::exchange& way, bulk_receive& r,
                                    const bulk_head& head) noexcept {
  const auto from = r.from;  // `r` may be complete, and gone, when it is expected
  count_room(*r.room, -1);
  announce(r, head);
  way.expect(r, head.bytes);
  want_room(from, head.bytes);
}

/// For another message like the one that was announced: not at once, but when that one has been
/// received and answered, or the program waits for the next.
void service_parts::want_room(std::uint32_t for_process, std::uint64_t bytes) noexcept {
  if (bytes == 0 || bytes > rooms_each_max || peers.at(for_process).bundled()) return;
  neighbours[for_process].large.want_here(bytes);
  const auto before = room_due.exchange(for_process, std::memory_order_acq_rel);  // (D), (E)
  if (before != nobody && before != for_process) open_room(before);
}

void service_parts::open_room_that_is_due() noexcept {
  const auto process = room_due.exchange(nobody, std::memory_order_acq_rel);  // (D), (E)
  if (process != nobody) open_room(process);
}

void service_parts::open_room(std::uint32_t for_process) noexcept {
  auto* way = exchange.load(std::memory_order_acquire);  // (X)
  auto& n = neighbours[for_process];
  const auto bytes = way ? n.large.take_wish() : 0;
  if (bytes == 0 || stopped.load(std::memory_order_relaxed) ||
      rooms_count.load(std::memory_order_relaxed) >= rooms_count_max ||  // numbers
      rooms_bytes.load(std::memory_order_relaxed) >= rooms_bytes_max)
    return;
  auto* r = new (std::nothrow) bulk_receive(*this, for_process);
  block* room = r ? buffers()->request(bytes) : nullptr;
  if (!room) {
    delete r;
    return;
  }
  count_room(*room, 1);
  r->room = room;
  const auto room_bytes = room->capacity();
  const auto zone =
      way->open_zone(*bulk_context.load(std::memory_order_relaxed), *r,  // carried by (X)
                     {room->data(), room_bytes}, static_cast<int>(for_process));
  if (!zone) return;  // its process is lost, and `r` gone
  if (*zone == rails::landing_id::none) return free_room(r);
  const auto name = static_cast<std::uint32_t>(*zone);
  if (!n.large.add_here(name, *r)) return close_room(*way, for_process, name);
  tell(for_process, room_head{.room = name, .bytes = room_bytes});
}

void service_parts::close_room(messages::exchange& way, std::uint32_t for_process,
                               std::uint32_t zone) noexcept {
  auto* r = way.close_zone(*bulk_context.load(std::memory_order_relaxed),  // carried by (X)
                           rails::landing_id{zone}, static_cast<int>(for_process));
  if (r) free_room(static_cast<bulk_receive*>(r));
}

/// Of a room that nothing was sent to.
void service_parts::free_room(bulk_receive* r) noexcept {
  count_room(*r->room, -1);
  buffers()->arrived_nowhere(*r->room, false);
  delete r;
}

void service_parts::count_room(const block& room, int by) noexcept {
  rooms_count.fetch_add(by, std::memory_order_relaxed);  // numbers
  rooms_bytes.fetch_add(by * static_cast<std::int64_t>(room.capacity()), std::memory_order_relaxed);
}

/// Those that nothing was sent to; their requests, for when no round looks at them any more.
std::vector<bulk_receive*> service_parts::close_rooms(messages::exchange& way) {
  std::vector<bulk_receive*> closed;
  for (std::uint32_t p = 0; p < peers.size(); ++p) {
    const auto zone = neighbours[p].large.take_last_here().first;
    auto* r = zone == 0 ? nullptr
                        : way.close_zone(*bulk_context.load(std::memory_order_relaxed),  // (X)
                                         rails::landing_id{zone}, static_cast<int>(p));
    if (r) closed.push_back(static_cast<bulk_receive*>(r));  // else used up, or its process is lost
  }
  return closed;
}

void service_parts::arrived_room(std::uint32_t from, std::span<const std::byte> bytes) noexcept {
  room_head head;
  if (!read_head(bytes, head) || head.room == 0) return;
  if (!neighbours[from].large.add_there(head.room, head.bytes))
    complain(from, "news of more rooms than it may open");
}

}  // namespace headway::endpoints
