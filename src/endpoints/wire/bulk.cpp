#include "endpoints/wire/bulk.hpp"

#include <new>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/log.hpp"

namespace headway::endpoints {
namespace {

constexpr std::uint32_t transfer_mask = 0x3fffffff;  // tags are not negative
constexpr std::uint32_t announced_max = 65536;       // by a process; windows keep it far below

}  // namespace

struct bulk_send : messages::request, base::list_hook<transfer_list<bulk_send>> {
  explicit bulk_send(bulk_transfers& of) noexcept : owner(of) { of.sends_under_way_.add(*this); }
  ~bulk_send() { owner.sends_under_way_.remove(*this); }

  bulk_transfers& owner;
  block* contents = nullptr;
  bool lent = false;
  // Referenced by the transfer and by the call that starts it, which may return after the
  // transfer's end. (D): the thread that deletes sees what came before each release.
  std::atomic<int> holds{2};

  /// Sends a copy, and releases the buffer at once.
  void leave_memory_for_arrivals(std::size_t bytes) noexcept {
    block* const copy = pool::copy_on_heap(*contents, bytes);
    if (!copy) return;
    owner.buffers_.end_message(*contents, std::exchange(lent, false));
    contents = copy;
  }
  void drop() noexcept {
    if (holds.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;  // (D)
  }
  static bool ended(messages::request& self) noexcept {
    auto& me = static_cast<bulk_send&>(self);
    me.owner.buffers_.end_message(*me.contents, me.lent);
    me.owner.sends_.fetch_sub(1, std::memory_order_relaxed);  // a number
    me.drop();
    return false;
  }
};

struct bulk_receive : messages::request,
                      buffer_request,
                      base::list_hook<transfer_list<bulk_receive>> {
  bulk_receive(bulk_transfers& of, std::uint32_t process) noexcept : owner(of) {
    buffer_request::from = process;
    finish = &bulk_receive::ended;
    granted = &bulk_receive::got_buffer;
    of.receives_under_way_.add(*this);
  }
  ~bulk_receive() { owner.receives_under_way_.remove(*this); }

  bulk_transfers& owner;
  block* target = nullptr;
  parcel* waits = nullptr;     ///< its parcel in the inbox
  std::uint32_t transfer = 0;  ///< of a rendezvous
  bool announced = false;      ///< false: a zone for which no message has come yet
  bool kept = false;           ///< `waits` is in the inbox

  static void got_buffer(buffer_request& one, block* got) noexcept {
    auto& me = static_cast<bulk_receive&>(one);
    me.owner.receive(me, got);
  }

  static bool ended(messages::request& self) noexcept {
    auto& me = static_cast<bulk_receive&>(self);
    if (!me.announced) {  // its sender is lost, or violated the protocol
      me.owner.remotes_[me.from].zones.forget_here(me);
      me.owner.free_zone(&me);
      return false;
    }
    me.owner.receive_ended(me);
    delete &me;
    return false;
  }
};

/// For transfers that do not end: their other process has died, and no loss was reported in time.
bulk_transfers::~bulk_transfers() {
  sends_under_way_.delete_all([](bulk_send&) noexcept {});
  receives_under_way_.delete_all([this](bulk_receive& r) noexcept {
    if (r.announced) receive_ended(r);
  });
}

void bulk_transfers::attach(messages::exchange& exchange, std::uint32_t self) {
  HEADWAY_ASSERT(!exchange_.load(std::memory_order_relaxed));  // called by one thread
  context_.store(
      exchange.open_context(2 * messages::context_pair::endpoints, static_cast<int>(self),
                            processes::consecutive(static_cast<int>(remotes_.size()))),
      std::memory_order_relaxed);                         // published by the next line
  exchange_.store(&exchange, std::memory_order_release);  // (X)
}

/// Frees the memory of unused zones when no polling round accesses their requests any more.
void bulk_transfers::detach() {
  HEADWAY_ASSERT(stopped_.load(std::memory_order_relaxed));  // a fact
  auto* way = exchange_.load(std::memory_order_acquire);     // (X)
  if (!way) return;
  auto* context = context_.load(std::memory_order_relaxed);  // carried by (X)
  std::vector<messages::request*> closed;
  remotes_.each([&](std::uint32_t, remote_process& of) {
    const auto zone = of.zones.take_last_here();
    if (zone == 0) return;
    // nullptr: used up, or its process is lost
    if (auto* r = way->withdraw(zone)) closed.push_back(r);
  });
  exchange_.store(nullptr, std::memory_order_relaxed);  // withdraws it, carries no data
  way->close_context(context);
  for (auto* r : closed) free_zone(static_cast<bulk_receive*>(r));
}

outcome bulk_transfers::send(const sending& what, const pool::found& f,
                             std::uint32_t charge) noexcept {
  auto* way = exchange_.load(std::memory_order_acquire);  // (X)
  if (!way) return outcome::not_joined;
  auto* item = out_.make<packet_record>();
  auto* bulk = new (std::nothrow) bulk_send(*this);
  if (!item || !bulk) {
    if (item) packet_sender::finish(*item);
    delete bulk;
    return outcome::no_memory;
  }
  const auto transfer = transfers_.fetch_add(1, std::memory_order_relaxed) & transfer_mask;
  const auto there = remotes_[what.to.process].zones.take_there(what.bytes);
  write_head(*item, bulk_head{.message = {.kind = wire_kind::announced,
                                          .charge = static_cast<std::uint16_t>(charge),
                                          .to = what.to.id,
                                          .from = what.from,
                                          .tag = what.tag},
                              .transfer = transfer,
                              .bytes = what.bytes,
                              .zone = there.zone.number,
                              .uses = there.suits ? 1u : 0u});
  const auto answer = out_.post_in_order(what.to.process, *item);
  if (answer != packets::posted::pending) packet_sender::finish(*item);
  if (answer == packets::posted::down) {
    delete bulk;
    return outcome::gone;
  }
  bulk->contents = f.header;
  bulk->lent = what.keep || f.lent;
  if (buffers_.is_for_arrivals(*f.header)) bulk->leave_memory_for_arrivals(what.bytes);
  bulk->finish = &bulk_send::ended;
  sends_.fetch_add(1, std::memory_order_relaxed);             // a number
  auto& context = *context_.load(std::memory_order_relaxed);  // carried by (X)
  const std::span<const std::byte> data(bulk->contents->data(), what.bytes);
  const auto process = static_cast<int>(what.to.process);
  if (there.suits) way->put(context, *bulk, data, process, there.zone);
  else way->send(context, *bulk, data, process, static_cast<int>(transfer));
  bulk->drop();
  // The buffer may be free by now: a zone can be placed in it.
  if (zone_due_.load(std::memory_order_relaxed) == what.to.process) prepost_due_zone();
  return outcome::ok;
}

void bulk_transfers::arrived_announcement(std::uint32_t from,
                                          std::span<const std::byte> bytes) noexcept {
  bulk_head head;
  if (!read_head(bytes, head)) return;
  auto* way = exchange_.load(std::memory_order_acquire);  // (X)
  auto& n = remotes_[from];
  if (n.announced.load(std::memory_order_relaxed) >= announced_max)  // a number
    return n.complain(from, "more announcements than it may");
  bulk_receive* opened = n.zones.take_here(head.zone);
  if (head.uses != 0 && way) {
    if (opened && head.bytes != 0 && head.bytes <= opened->target->capacity())
      return arrived_in_zone(*way, *opened, head);
    if (!stopped_.load(std::memory_order_relaxed))  // zones are withdrawn then
      n.complain(from, "a message for a zone that was not opened");
  }
  if (opened && way) withdraw_zone(*way, head.zone);
  if (head.uses != 0) return;
  if (!way) return;
  auto& r = *new bulk_receive(*this, from);
  r.transfer = head.transfer & transfer_mask;
  block* target =
      waiting_.must_wait(head.message.to) ? nullptr : buffers_.request_for_arrival(head.bytes);
  announce(r, head, target);
  if (!target && r.kept) {
    if (head.bytes > buffers_.arrival_bytes_max()) {
      n.complain(from, "a message that is too large for HEADWAY_ENDPOINT_MEMORY: it is dropped");
    } else {
      n.lack_memory(from, head.bytes);
      if (waiting_.add(r)) return;
      n.complain(from, "more messages than its window admits");
    }
  }
  receive(r, target);
}

/// Received even if there is neither memory nor an end-point for it, because its sender waits for
/// that.
void bulk_transfers::receive(bulk_receive& r, block* target) noexcept {
  std::span<std::byte> room;
  if (target) room = {target->data(), r.bytes};
  r.target = r.waits->contents = target;
  const auto from = r.from;  // `r` may be complete, and gone, when it is expected
  const auto bytes = r.bytes;
  auto* way = exchange_.load(std::memory_order_acquire);  // (X)
  if (!way) {                                             // the service has ended
    receive_ended(r);
    delete &r;
    return;
  }
  way->receive(*context_.load(std::memory_order_relaxed), r, room,  // carried by (X)
               static_cast<int>(from), static_cast<int>(r.transfer));
  want_zone(from, bytes);
}

/// Puts the message into the inbox, where it waits for its bytes, and before that for the buffer
/// `contents` if there is none yet.
void bulk_transfers::announce(bulk_receive& r, const bulk_head& head, block* contents) noexcept {
  remotes_[r.from].announced.fetch_add(1, std::memory_order_relaxed);  // a number
  r.announced = true;
  r.to = head.message.to;
  r.bytes = head.bytes;
  parcel& p = contents ? contents->waits : pool::heap_block(0).waits;
  r.waits = &p;
  p.contents = contents;
  p.bytes = head.bytes;
  p.from = {r.from, head.message.from};
  p.tag = head.message.tag;
  p.charge = head.message.charge;
  p.lent = false;
  p.ready = false;
  r.kept = here_.deliver(head.message.to, p);
}

void bulk_transfers::receive_ended(bulk_receive& r) noexcept {
  remotes_[r.from].announced.fetch_sub(1, std::memory_order_relaxed);  // a number
  parcel& p = *r.waits;
  const bool well = r.target && r.arrived.how == messages::outcome::ok;
  if (well && buffers_.checks()) r.target->checksum = checksum(*r.target, p.bytes);
  if (!r.kept || !here_.bytes_arrived(r.to, p, well)) here_.drop(p);
}

// ---- zones that are preposted -------------------------------------------------------------------

void bulk_transfers::arrived_in_zone(messages::exchange& way, bulk_receive& r,
                                     const bulk_head& head) noexcept {
  const auto from = r.from;  // `r` may be complete, and gone, when it is expected
  count_zone(*r.target, -1);
  announce(r, head, r.target);
  way.expect(r, head.bytes);
  want_zone(from, head.bytes);
}

/// Notes that a zone is due for another message like the announced one. It is opened when that
/// message has been received and answered, or the program waits for the next.
void bulk_transfers::want_zone(std::uint32_t for_process, std::uint64_t bytes) noexcept {
  if (bytes == 0 || bytes > zone_bytes_max_ ||
      !packets::rendezvous::preposts_for(out_.peers().at(for_process)))
    return;
  remotes_[for_process].zones.want_here(bytes);
  const auto before = zone_due_.exchange(for_process, std::memory_order_acq_rel);  // (D), (E)
  if (before != nobody && before != for_process) prepost_zone(before);
}

void bulk_transfers::prepost_due_zone() noexcept {
  const auto process = zone_due_.exchange(nobody, std::memory_order_acq_rel);  // (D), (E)
  if (process != nobody) prepost_zone(process);
}

void bulk_transfers::prepost_zone(std::uint32_t for_process) noexcept {
  auto* way = exchange_.load(std::memory_order_acquire);  // (X)
  auto& n = remotes_[for_process];
  const auto bytes = way ? n.zones.take_wish() : 0;
  if (bytes == 0 || stopped_.load(std::memory_order_relaxed) ||
      zones_count_.load(std::memory_order_relaxed) >= zones_count_max ||  // numbers
      zones_bytes_.load(std::memory_order_relaxed) >= zones_bytes_max_)
    return;
  auto* r = new (std::nothrow) bulk_receive(*this, for_process);
  block* target = r ? buffers_.request(bytes) : nullptr;
  if (!target) {
    delete r;
    return;
  }
  count_zone(*target, 1);
  r->target = target;
  const auto zone =
      way->prepost(*context_.load(std::memory_order_relaxed), *r,  // carried by (X)
                   {target->data(), target->capacity()}, static_cast<int>(for_process));
  if (zone.number == 0) return free_zone(r);
  if (!n.zones.add_here(zone.number, *r)) return withdraw_zone(*way, zone.number);
  out_.tell(for_process, zone_head{.zone = zone});
}

void bulk_transfers::withdraw_zone(messages::exchange& way, std::uint32_t zone) noexcept {
  if (auto* r = way.withdraw(zone)) free_zone(static_cast<bulk_receive*>(r));
}

/// For a zone without a message.
void bulk_transfers::free_zone(bulk_receive* r) noexcept {
  count_zone(*r->target, -1);
  buffers_.end_message(*r->target, false);
  delete r;
}

void bulk_transfers::count_zone(const block& target, int by) noexcept {
  zones_count_.fetch_add(by, std::memory_order_relaxed);  // numbers
  zones_bytes_.fetch_add(by * static_cast<std::int64_t>(target.capacity()),
                         std::memory_order_relaxed);
}

void bulk_transfers::arrived_zone(std::uint32_t from, std::span<const std::byte> bytes) noexcept {
  zone_head head;
  if (!read_head(bytes, head) || head.zone.number == 0) return;
  if (!remotes_[from].zones.add_there(head.zone))
    remotes_[from].complain(from, "news of more zones than it may open");
}

}  // namespace headway::endpoints
