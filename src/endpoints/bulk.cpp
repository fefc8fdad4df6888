// Messages too large for a packet, to processes that do not share memory with us: announced to the
// end-point, then sent by `messages`, which divides them over rails and lets them land in place.
#include <atomic>
#include <new>

#include "endpoints/parts.hpp"

namespace headway::endpoints {
namespace {

constexpr std::uint32_t transfer_mask = 0x3fffffff;  // tags are not negative
constexpr std::uint32_t announced_max = 65536;       // by a process; windows keep it far below

struct bulk_send : messages::request {
  service_parts* parts = nullptr;
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

}  // namespace

struct bulk_receive : messages::request {
  service_parts* parts = nullptr;
  block* room = nullptr;
  std::uint32_t to = 0;
  std::uint32_t from = 0;
  bool kept = false;  ///< its parcel waits in the inbox

  static bool ended(messages::request& self) noexcept {
    auto& me = static_cast<bulk_receive&>(self);
    me.parts->neighbours[me.from].announced.fetch_sub(1, std::memory_order_relaxed);  // a number
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
  auto* bulk = new (std::nothrow) bulk_send;
  if (!item || !bulk) {
    if (item) finish(*item);
    delete bulk;
    return outcome::no_memory;
  }
  const auto transfer = transfers.fetch_add(1, std::memory_order_relaxed) & transfer_mask;
  write_head(*item, bulk_head{.message = {.kind = wire_kind::announced,
                                          .charge = static_cast<std::uint16_t>(charge),
                                          .to = what.to.id,
                                          .from = what.from,
                                          .tag = what.tag},
                              .transfer = transfer,
                              .bytes = what.bytes});
  const auto answer = post_in_order(what.to.process, *item);
  if (answer != packets::posted::pending) finish(*item);
  if (answer == packets::posted::down) {
    delete bulk;
    return outcome::gone;
  }
  bulk->parts = this;
  bulk->contents = f.header;
  bulk->lent = what.keep || f.lent;
  bulk->finish = &bulk_send::ended;
  bulk_sends.fetch_add(1, std::memory_order_relaxed);              // a number
  way->send(*bulk_context.load(std::memory_order_relaxed), *bulk,  // carried by (X)
            {f.header->data(), what.bytes}, static_cast<int>(what.to.process),
            static_cast<int>(transfer));
  bulk->drop();
  return outcome::ok;
}

void service_parts::arrived_announced(std::uint32_t from,
                                      std::span<const std::byte> bytes) noexcept {
  bulk_head head;
  if (!read_head(bytes, head)) return;
  auto* way = exchange.load(std::memory_order_acquire);  // (X)
  auto& under_way = neighbours[from].announced;
  if (under_way.load(std::memory_order_relaxed) >= announced_max)  // a number
    return complain(from, "more announcements than it may");
  auto* r = way ? new (std::nothrow) bulk_receive : nullptr;
  if (!r) return;
  under_way.fetch_add(1, std::memory_order_relaxed);  // a number
  r->parts = this;
  r->to = head.message.to;
  r->from = from;
  r->finish = &bulk_receive::ended;
  r->room = buffers()->request(head.bytes);
  std::span<std::byte> room;
  if (r->room) {
    room = {r->room->data(), head.bytes};
    parcel& p = r->room->waits;
    p.contents = r->room;
    p.bytes = head.bytes;
    p.from = {from, head.message.from};
    p.tag = head.message.tag;
    p.charge = head.message.charge;
    p.lent = false;
    p.ready = false;
    r->kept = put(head.message.to, p);
  } else {
    lack_memory(from, head.bytes);
  }
  // Received in any case: its sender waits for that.
  way->receive(*bulk_context.load(std::memory_order_relaxed), *r, room,  // carried by (X)
               static_cast<int>(from), static_cast<int>(head.transfer & transfer_mask));
}

void service_parts::bulk_ended(bulk_receive& r) noexcept {
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

}  // namespace headway::endpoints
