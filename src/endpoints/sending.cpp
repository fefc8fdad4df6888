// How a message leaves: by pointer, by place in shared memory, or as bytes.
#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "endpoints/parts.hpp"

namespace headway::endpoints {
namespace {

constexpr std::size_t unit_bytes = 64 << 10;  // of the window: what a receiver must keep
// The same of buffers that two processors share: a mebibyte under way stays in their caches, and
// who writes to one that comes back does not wait for memory (docs/experiments/E16.md).
constexpr std::size_t unit_bytes_in_place = 4 << 10;
constexpr std::uint32_t in_place_min = 8;  // so many may be under way, however large

}  // namespace

outcome service::send_otherwise(const sending& what, std::uint64_t deadline_ns) noexcept {
  auto& s = *parts_;
  pool* buffers = s.buffers();
  if (!buffers) return outcome::no_memory;
  if (what.to.id == 0 || what.to.process >= s.process_count || what.tag == any_tag)
    return outcome::bad_argument;
  pool::found f;
  if (what.data) {
    f = buffers->find(what.data);
    if (f.trouble != wrong::none) return s.mistake(f.trouble, what.data);
    if (what.bytes > f.header->capacity()) return outcome::bad_argument;
  } else if (what.bytes != 0) {
    return outcome::bad_argument;
  }
  return what.to.process == s.self ? s.send_here(what, f, deadline_ns)
                                   : s.send_there(what, f, deadline_ns);
}

/// True: it is gone, and the buffer it was sent from is used no more. Without a record that would
/// have to outlive the call, so the rail must be one that posts nothing of this size.
inline bool service_parts::post_data_now(address to, std::int32_t tag, std::uint32_t from,
                                         const void* data, std::size_t bytes,
                                         std::uint32_t charge) noexcept {
  head_in_words head({.kind = wire_kind::data,
                      .charge = static_cast<std::uint16_t>(charge),
                      .to = to.id,
                      .from = from,
                      .tag = tag});
  return peers.at(to.process).post_now(head.bytes(), {static_cast<const std::byte*>(data), bytes});
}

/// The receiver has it before its credit and its buffer are accounted for: what another processor
/// waits for comes first.
outcome service::send_at_once(address to, std::int32_t tag, std::uint32_t from, const void* data,
                              std::size_t bytes, bool keep) noexcept {
  auto& s = *parts_;
  if (to.process >= s.process_count || to.id == 0 || tag == any_tag) return outcome::again;
  auto& n = s.neighbours[to.process];  // nothing goes this way to ourselves: `at_once_bytes_end`
  // Facts about the process: see neighbour.
  if (bytes >= n.at_once_bytes_end || n.lost.load(std::memory_order_relaxed) ||
      !n.acquainted.load(std::memory_order_relaxed) || s.stopped.load(std::memory_order_relaxed))
    return outcome::again;
  auto* all = n.endpoints.load(std::memory_order_acquire);  // (N)
  remote_endpoint* at = all ? all->find(slot_of(to.id)) : nullptr;
  if (!at || !at->seems_free(to.id, static_cast<std::int32_t>(s.window_units / 2)))
    return outcome::again;
  pool* buffers = s.pool_seen.load(std::memory_order_acquire);  // (B)
  if (!data || !buffers) return outcome::again;
  const auto f = buffers->find(data);
  if (f.trouble != wrong::none || !pool::at_rest(f) || bytes > f.header->capacity())
    return outcome::again;
  const auto charge = s.charge_of(bytes, s.window_units);
  if (!s.post_data_now(to, tag, from, data, bytes, charge)) return outcome::again;
  at->count(to.id, charge);
  if (keep) return outcome::ok;
  const auto w = buffers->release(f);  // none, unless another thread was quicker
  return w == wrong::none ? outcome::ok : s.mistake(w, data);
}

/// Takes the buffer from the program. The parcel for it lies in its own header if nobody else uses
/// that, or in an empty block's. nullptr: `f` is not the program's to send, or memory is out.
parcel* service_parts::wrap(const pool::found& f, bool keep) noexcept {
  const bool lent = keep || f.lent;
  if (f.header && !lent) {
    f.header->waits.contents = f.header;
    f.header->waits.lent = false;
    return &f.header->waits;
  }
  block* carrier = buffers()->request(0);
  if (!carrier) return nullptr;
  carrier->waits.contents = f.header;
  carrier->waits.lent = lent;
  return &carrier->waits;
}

outcome service_parts::send_here(const sending& what, const pool::found& f,
                                 std::uint64_t deadline_ns) noexcept {
  local_endpoint* e = local(what.to.id);
  if (!e) return outcome::gone;
  pool& own = *buffers();
  if (f.header) {
    if (own.checks()) f.header->checksum = pool::checksum(*f.header, what.bytes);
    if (const auto w = own.sent(f, what.keep); w != wrong::none) return mistake(w, what.data);
  }
  parcel* p = wrap(f, what.keep);
  if (!p) {
    if (f.header) own.unsent(f, what.keep);
    return outcome::no_memory;
  }
  p->bytes = what.bytes;
  p->from = {self, what.from};
  p->tag = what.tag;
  p->charge = 0;
  p->ready = true;
  const auto how = put_here(*e, what.to.id, *p, deadline_ns);
  if (how == outcome::ok) return how;
  if (!f.header || p->lent) {  // it lies in a block of its own
    p->contents = nullptr;
    p->lent = false;
    drop(*p);
  }
  if (f.header) own.unsent(f, what.keep);
  return how;
}

/// Waits while too much waits there.
outcome service_parts::put_here(local_endpoint& e, std::uint32_t id, parcel& p,
                                std::uint64_t deadline_ns) noexcept {
  for (bool polled = false;;) {
    waiting_thread me;
    bool run = false, full = false;
    {
      woken then;
      const std::scoped_lock guard(e.box.lock);
      if (e.box.id != id) return outcome::gone;
      full = e.box.from_here >= queue_units;
      if (full && deadline_ns != no_wait) e.box.add_sender(me);
      if (!full && e.box.put(p, then)) {
        p.charge = static_cast<std::uint16_t>(charge_of(p.bytes, queue_units));
        e.box.from_here += p.charge;
        run = e.by.call && !e.runnable;
        if (run) e.runnable = true;
      }
    }
    if (run) dispatch.ready(e);
    if (!full) return outcome::ok;
    if (deadline_ns == no_wait) {
      if (std::exchange(polled, true)) return outcome::again;
      engine.poll();
    } else if (deadline_ns == for_ever) {
      engine.wait(me);
    } else if (!engine.wait_until(me, deadline_ns)) {
      bool withdrawn = false;
      {
        const std::scoped_lock guard(e.box.lock);
        withdrawn = e.box.remove_sender(me);
      }
      if (withdrawn) return outcome::timed_out;
      engine.wait(me);  // its completion is under way
    }
  }
}

std::uint32_t service_parts::charge_of(std::size_t bytes, std::uint32_t most) noexcept {
  return static_cast<std::uint32_t>(std::min<std::size_t>(1 + bytes / unit_bytes, most / 2));
}

std::uint32_t service_parts::charge_in_place(std::size_t bytes, std::uint32_t most) noexcept {
  return static_cast<std::uint32_t>(
      std::min<std::size_t>(1 + bytes / unit_bytes_in_place, most / in_place_min));
}

remote_endpoint& service_parts::remote(address of) {
  auto& n = neighbours[of.process];
  auto* all = n.endpoints.load(std::memory_order_acquire);  // (N)
  if (!all) {
    const std::scoped_lock guard(n.making);
    all = n.endpoints.load(std::memory_order_relaxed);  // under the lock
    if (!all) {
      all = new slot_pages<remote_endpoint, 256>;
      n.endpoints.store(all, std::memory_order_release);  // (N) pairs with the load above
    }
  }
  return all->at(slot_of(of.id));
}

/// Another use of the slot there: a later one than we know of (true), or one that is over.
bool remote_endpoint::begin(std::uint32_t use, woken& then) noexcept {
  const auto known = id.load(std::memory_order_relaxed);
  if (known != 0 && !later_lap(use, known)) return false;
  id.store(use, std::memory_order_relaxed);
  used.store(0, std::memory_order_relaxed);
  gone.store(false, std::memory_order_relaxed);
  while (waiting_thread* w = senders.pop_front()) then.add(*w);
  return true;
}

/// What was sent before it was counted. The units may be back already.
void remote_endpoint::count(std::uint32_t use, std::uint32_t units) noexcept {
  const std::scoped_lock guard(lock);
  if (id.load(std::memory_order_relaxed) == use) add(static_cast<std::int32_t>(units));
}

outcome service_parts::get_credit(remote_endpoint& at, const sending& what, std::uint32_t charge,
                                  std::uint64_t deadline_ns) noexcept {
  const auto window = static_cast<std::int32_t>(window_units);
  const auto units = static_cast<std::int32_t>(charge);
  for (bool polled = false, waited = false;; waited = true) {
    waiting_thread me;
    {
      woken then;
      const std::scoped_lock guard(at.lock);
      if (at.id.load(std::memory_order_relaxed) != what.to.id && !at.begin(what.to.id, then))
        return outcome::gone;
      if (at.gone.load(std::memory_order_relaxed)) return outcome::gone;
      // A quarter of the window may stay unreturned, so that a large message must not need all.
      const auto used = at.used.load(std::memory_order_relaxed);
      if (used < window / 2 || used + units <= window) {
        at.add(units);
        if (waited) neighbours[what.to.process].pack.went();  // it was no pause of its own
        return outcome::ok;
      }
      if (deadline_ns != no_wait) {
        me.listed = true;
        at.senders.push_back(me);
      }
    }
    if (deadline_ns == no_wait) {
      if (std::exchange(polled, true)) return outcome::again;
      engine.poll();
    } else if (deadline_ns == for_ever) {
      engine.wait(me);
    } else if (!engine.wait_until(me, deadline_ns)) {
      bool withdrawn = false;
      {
        const std::scoped_lock guard(at.lock);
        withdrawn = std::exchange(me.listed, false);
        if (withdrawn) at.senders.erase(me);
      }
      if (withdrawn) return outcome::timed_out;
      engine.wait(me);  // its completion is under way
    }
  }
}

void service_parts::return_credit(remote_endpoint& at, std::uint32_t id,
                                  std::uint32_t units) noexcept {
  const auto window = static_cast<std::int32_t>(window_units);
  woken then;
  const std::scoped_lock guard(at.lock);
  if (at.id.load(std::memory_order_relaxed) != id) return;
  // No more can be back than were sent, whatever its process says.
  at.add(-static_cast<std::int32_t>(std::min(units, window_units)));
  if (at.used.load(std::memory_order_relaxed) < -window)
    at.used.store(-window, std::memory_order_relaxed);
  if (at.used.load(std::memory_order_relaxed) <= window / 2)
    while (waiting_thread* w = at.senders.pop_front()) then.add(*w);
}

outcome service_parts::send_there(const sending& what, const pool::found& f,
                                  std::uint64_t deadline_ns) noexcept {
  auto& n = neighbours[what.to.process];
  // Facts about the process: see neighbour.
  if (n.lost.load(std::memory_order_relaxed)) return outcome::gone;
  if (stopped.load(std::memory_order_relaxed)) return outcome::not_joined;
  if (!n.acquainted.load(std::memory_order_relaxed))
    n.acquainted.store(true, std::memory_order_relaxed);
  const bool by_place =
      share && f.header && what.bytes > inline_max && maps(what.to.process, f.header->owner);
  const auto charge =
      by_place ? charge_in_place(what.bytes, window_units) : charge_of(what.bytes, window_units);
  remote_endpoint& at = remote(what.to);
  auto how = get_credit(at, what, charge, deadline_ns);
  if (how != outcome::ok) return how;
  if (f.header) {
    if (buffers()->checks()) f.header->checksum = pool::checksum(*f.header, what.bytes);
    if (const auto w = buffers()->sent(f, what.keep); w != wrong::none) how = mistake(w, what.data);
  }
  if (how == outcome::ok) {
    how = post_message(what, f, charge, by_place);
    if (how != outcome::ok && f.header) buffers()->unsent(f, what.keep);
  }
  if (how != outcome::ok) return_credit(at, what.to.id, charge);
  return how;
}

outcome service_parts::post_message(const sending& what, const pool::found& f, std::uint32_t charge,
                                    bool by_place) noexcept {
  auto& k = neighbours[what.to.process].pack;
  if (by_place) return post_shared(what, f, charge);
  if (what.bytes > peers.at(what.to.process).eager_bytes_max()) return post_bulk(what, f, charge);
  if (!k.pays || what.bytes > k.bytes_max) return post_data(what, f, charge);
  if (pack(what, charge)) {
    if (f.header) buffers()->arrived_nowhere(*f.header, what.keep || f.lent);
    return outcome::ok;
  }
  const auto how = post_data(what, f, charge);
  k.went();
  return how;
}

template <class Record>
Record* service_parts::make_record() noexcept {
  block* b = buffers()->request(sizeof(Record));
  if (!b) return nullptr;
  auto* item = new (b->data()) Record;
  item->parts = this;
  item->self = b;
  item->sent = &service_parts::sent;
  return item;
}

template outgoing_message* service_parts::make_record() noexcept;
template letter* service_parts::make_record() noexcept;
template packed_message* service_parts::make_record() noexcept;

void service_parts::sent(packets::outgoing& item, bool) noexcept {
  finish(static_cast<outgoing_message&>(item));
}

/// The rail has taken it, or never will: the buffer that it was sent from is used no more.
void service_parts::finish(outgoing_message& item) noexcept {
  pool& own = *item.parts->buffers();
  auto* contents = item.contents;
  const bool lent = item.lent;
  auto* told = item.told;
  own.arrived_nowhere(*item.self, false);
  if (contents) own.arrived_nowhere(*contents, lent);
  if (told) told->complete();
}

packets::posted service_parts::post(std::uint32_t process, outgoing_message& item) noexcept {
  const auto answer = peers.at(process).post(item);
  if (answer == packets::posted::down) lose(process);  // it has left, or is lost
  return answer;
}

packets::posted service_parts::post_in_order(std::uint32_t process,
                                             outgoing_message& item) noexcept {
  auto& k = neighbours[process].pack;
  const bool others = !k.empty();
  if (others) {
    const std::scoped_lock guard(k.lock);
    line_up(k);
  }
  const auto answer = post(process, item);
  if (others && answer == packets::posted::down) peers.at(process).send_lined_up();  // to their end
  return answer;
}

outcome service_parts::post_data(const sending& what, const pool::found& f,
                                 std::uint32_t charge) noexcept {
  const auto& n = neighbours[what.to.process];
  if (what.bytes <= n.inline_bytes && n.pack.empty() &&
      post_data_now(what.to, what.tag, what.from, what.data, what.bytes, charge)) {
    if (f.header) buffers()->arrived_nowhere(*f.header, what.keep || f.lent);
    return outcome::ok;
  }
  auto* item = make_record<outgoing_message>();
  if (!item) return outcome::no_memory;
  write_head(*item, message_head{.kind = wire_kind::data,
                                 .charge = static_cast<std::uint16_t>(charge),
                                 .to = what.to.id,
                                 .from = what.from,
                                 .tag = what.tag});
  if (f.header) {
    item->payload = {f.header->data(), what.bytes};
    item->contents = f.header;
    item->lent = what.keep || f.lent;
  }
  switch (post_in_order(what.to.process, *item)) {
    case packets::posted::done:
      finish(*item);
      return outcome::ok;
    case packets::posted::pending:
      return outcome::ok;
    case packets::posted::down:
      break;
  }
  item->contents = nullptr;
  finish(*item);
  return outcome::gone;
}

outcome service_parts::post_shared(const sending& what, const pool::found& f,
                                   std::uint32_t charge) noexcept {
  auto* item = make_record<outgoing_message>();
  if (!item) return outcome::no_memory;
  const bool lent = what.keep || f.lent;
  shared_head head{.message = {.kind = wire_kind::shared,
                               .charge = static_cast<std::uint16_t>(charge),
                               .to = what.to.id,
                               .from = what.from,
                               .tag = what.tag},
                   .owner = f.header->owner,
                   .place = f.header->place | (lent ? 1u : 0u),
                   .bytes = what.bytes};
  write_head(*item, head);
  pool::destined(*f.header, lent, what.to.process);
  switch (post_in_order(what.to.process, *item)) {
    case packets::posted::done:
      finish(*item);
      return outcome::ok;
    case packets::posted::pending:
      return outcome::ok;  // should it be lost, `reclaim` takes the buffer back
    case packets::posted::down:
      break;
  }
  finish(*item);
  if (!lent) f.header->holder.store(self, std::memory_order_relaxed);  // see block.hpp
  return outcome::gone;
}

template <class Head>
void service_parts::tell(std::uint32_t process, const Head& head,
                         std::span<const std::byte> text) noexcept {
  auto& n = neighbours[process];
  // Facts about the process: see neighbour.
  if (n.lost.load(std::memory_order_relaxed) || !buffers()) return;
  n.acquainted.store(true, std::memory_order_relaxed);
  auto* item = make_record<letter>();
  if (!item) {
    base::log(base::severity::error, "end-points: no memory for a packet to rank {}", process);
    return;
  }
  write_head(*item, head);
  std::ranges::copy(text, item->text.begin());
  item->payload = {item->text.data(), text.size()};
  if (post(process, *item) != packets::posted::pending) finish(*item);
}

template void service_parts::tell(std::uint32_t, const message_head&,
                                  std::span<const std::byte>) noexcept;
template void service_parts::tell(std::uint32_t, const plain_head&,
                                  std::span<const std::byte>) noexcept;
template void service_parts::tell(std::uint32_t, const room_head&,
                                  std::span<const std::byte>) noexcept;

void service_parts::deliver(std::uint32_t process, const name_head& head, std::string_view name) {
  if (process == self) return directory_of_names.arrived(self, head, name);
  name_head whole = head;
  whole.name_bytes = static_cast<std::uint16_t>(name.size());
  tell(process, whole, std::as_bytes(std::span(name)));
}

void service_parts::take_leave(std::uint32_t process, progress::completion& done) noexcept {
  auto* item = buffers() ? make_record<outgoing_message>() : nullptr;
  if (!item) return done.complete();
  write_head(*item, plain_head{.kind = wire_kind::leaving, .process = self});
  item->told = &done;
  if (peers.at(process).post(*item) != packets::posted::pending) finish(*item);
}

/// Can that process read what lies in the region of `owner`? Asks it the first time.
bool service_parts::maps(std::uint32_t process, std::uint32_t owner) noexcept {
  using answer = neighbour::answer;
  if (process == owner) return same_node(process);  // we map it ourselves, or had no buffer of it
  auto& n = neighbours[process];
  auto known = answer::unknown;
  if (owner == self) {
    known = n.region.load(std::memory_order_relaxed);  // a fact, see neighbour
    if (known == answer::unknown)
      known = n.region.exchange(answer::asked, std::memory_order_relaxed);  // one asks
  } else {
    const std::scoped_lock guard(n.lock);
    auto& said = n.regions.try_emplace(owner, answer::unknown).first->second;
    known = said;
    if (said == answer::unknown) said = answer::asked;
  }
  if (known != answer::unknown) return known == answer::yes;
  region* what = buffers()->region_of(owner);
  if (!what || !same_node(process)) return false;
  tell(process, plain_head{.kind = wire_kind::region_offered, .process = owner},
       std::as_bytes(std::span(&what->offer(), 1)));
  return false;
}

}  // namespace headway::endpoints
