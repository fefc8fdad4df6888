// Taking messages out of inboxes.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "endpoints/parts.hpp"

namespace headway::endpoints {
namespace {

constexpr std::uint32_t gathered_min = 4;  // messages, for which to look away pays

/// Counts a thread that waits, for a dispatcher that asks.
struct counted_wait {
  explicit counted_wait(dispatcher& of) noexcept : of_(of.counts_waits() ? &of : nullptr) {
    if (of_) of_->waiting.fetch_add(1, std::memory_order_relaxed);  // a hint
  }
  ~counted_wait() {
    if (of_) of_->waiting.fetch_sub(1, std::memory_order_relaxed);
  }
  counted_wait(const counted_wait&) = delete;
  counted_wait& operator=(const counted_wait&) = delete;
  dispatcher* of_;
};

}  // namespace

void service_parts::account(inbox& box, const parcel& p, woken& then, std::uint32_t& due) noexcept {
  due = 0;
  if (p.charge == 0) return;
  if (p.from.process == self) return return_units(box, p.charge, then);
  due = owe(box.owed_to(p.from.process), p.charge);
}

void service_parts::return_units(inbox& box, std::uint32_t units, woken& then) noexcept {
  box.from_here -= std::min(box.from_here, units);
  if (box.from_here <= queue_units / 2) box.wake_senders(then);
}

parcel* service_parts::take(inbox& box, const filter& wanted, woken& then,
                            std::uint32_t& due) noexcept {
  parcel* p = box.take(wanted);
  return_units(box, std::exchange(box.unreturned, 0u), then);
  box.note_aside();
  if (!p) return nullptr;
  box.note_sender(p->from.process == self);
  account(box, *p, then, due);
  return p;
}

/// Most often nothing waits, or what was sent last: then one lock will do. False: it will not.
bool service_parts::take_at_once(inbox& box, const filter& wanted, taken& found,
                                 waiting_thread* me) noexcept {
  if (box.maybe_aside()) return false;
  woken then;
  const std::scoped_lock guard(box.lock);
  found.open = box.id == found.number;
  if (!found.open) return true;
  if (box.maybe_aside() || box.several()) return false;
  found.p = box.take_waiting(wanted);
  if (found.p) {
    box.note_sender(found.p->from.process == self);
    account(box, *found.p, then, found.due);
    found.more = box.from_here;
  } else if (me) {
    box.add_receiver(*me);
  }
  return true;
}

/// The same in any case.
void service_parts::take_or_wait(inbox& box, const filter& wanted, taken& found,
                                 waiting_thread* me) noexcept {
  woken then;
  const std::scoped_lock first(box.taking);
  found.open = box.taking_id == found.number;
  if (!found.open) return;
  found.p = take_aside(box, wanted, then, found.due);
  if (found.p) return;
  const std::scoped_lock guard(box.lock);
  found.p = take(box, wanted, then, found.due);
  found.more = box.from_here;
  if (!found.p && me) box.add_receiver(*me);
}

parcel* service_parts::take_aside(inbox& box, const filter& wanted, woken& then,
                                  std::uint32_t& due) noexcept {
  due = 0;
  parcel* p = box.take_aside(wanted);
  if (!p) return nullptr;
  const bool is_near = p->from.process == self;
  box.note_sender(is_near);
  if (is_near) {
    box.unreturned += p->charge;
    if (box.unreturned <= queue_units / 4) return p;
    const std::scoped_lock guard(box.lock);
    return_units(box, std::exchange(box.unreturned, 0u), then);
    return p;
  }
  const std::scoped_lock guard(box.lock);
  account(box, *p, then, due);
  return p;
}

void service_parts::give_credit(std::uint32_t id, std::uint32_t process,
                                std::uint32_t due) noexcept {
  if (due == 0) return;
  tell(process,
       message_head{.kind = wire_kind::credit, .from = id, .tag = static_cast<std::int32_t>(due)});
}

void service_parts::spin(const waiting_thread& me) noexcept {
  constexpr int looks = 100;  // some microseconds: less than a wake-up costs
  for (int i = 0; i < looks && !me.test(); ++i) base::relax();
}

void service_parts::look_away() noexcept {
  constexpr std::uint64_t away_ns = 1'000;
  const auto until = base::now_ns() + away_ns;
  while (base::now_ns() < until) base::relax();
}

void service_parts::drop(parcel& p) noexcept {
  pool& buffers = *pool_seen.load(std::memory_order_acquire);  // (B)
  block& own = block_of(p);
  block* contents = p.contents;
  const bool lent = p.lent;
  if (&own != contents) buffers.arrived_nowhere(own, false);
  if (contents) buffers.arrived_nowhere(*contents, lent);
}

outcome service::receive(std::uint32_t id, const filter& wanted, std::uint64_t deadline_ns,
                         message& out) noexcept {
  auto& s = *parts_;
  local_endpoint* e = s.local(id);
  if (!e) return outcome::gone;
  inbox& box = e->box;
  if (s.room_due.load(std::memory_order_relaxed) != service_parts::nobody)  // a hint
    s.open_room_that_is_due();
  waiting_thread me;
  me.wanted = wanted;
  waiting_thread* const stays = deadline_ns == no_wait ? nullptr : &me;
  const bool near = box.near.load(std::memory_order_relaxed);                           // a hint
  const bool gathers = near && stays && box.drained.load(std::memory_order_relaxed) &&  // hints
                       box.gathers.due();
  if (gathers) service_parts::look_away();
  for (bool polled = false;; polled = true) {
    service_parts::taken found{.number = id};
    if (!s.take_at_once(box, wanted, found, stays)) s.take_or_wait(box, wanted, found, stays);
    if (gathers) box.gathers.learn(found.p && found.more >= gathered_min - 1);
    if (!found.open) return outcome::gone;
    if (found.p) {
      s.give_credit(id, found.p->from.process, found.due);
      return s.finish(*found.p, out);
    }
    if (stays) break;
    if (polled) return outcome::again;
    s.engine.poll();
  }
  if (near && box.spins.due()) {
    service_parts::spin(me);
    box.spins.learn(me.test());
  }
  if (!me.test()) {
    const counted_wait counted(s.dispatch);
    if (deadline_ns == for_ever) {
      s.engine.wait(me);
    } else if (!s.engine.wait_until(me, deadline_ns)) {
      bool withdrawn = false;
      {
        const std::scoped_lock guard(box.lock);
        withdrawn = box.remove_receiver(me);
      }
      if (withdrawn) return outcome::timed_out;
      s.engine.wait(me);  // its completion is under way
    }
  }
  if (!me.received) return outcome::gone;
  box.note_sender(me.received->from.process == s.self);
  std::uint32_t due = 0;
  if (me.received->charge != 0) {
    woken then;
    const std::scoped_lock guard(box.lock);
    if (box.id == id) s.account(box, *me.received, then, due);
  }
  s.give_credit(id, me.received->from.process, due);
  return s.finish(*me.received, out);
}

outcome service::wait_any(std::span<const std::uint32_t> ids, std::uint64_t deadline_ns,
                          std::size_t& which) {
  auto& s = *parts_;
  std::vector<watch> watches(ids.size());
  for (bool polled = false;;) {
    watching_thread me;
    std::size_t added = 0;
    auto how = outcome::again;
    for (; added < ids.size() && how == outcome::again; ++added) {
      local_endpoint* e = s.local(ids[added]);
      if (!e) {
        how = outcome::gone;
        which = added;
        break;
      }
      const std::scoped_lock first(e->box.taking);
      const std::scoped_lock guard(e->box.lock);
      if (e->box.id != ids[added] || e->box.any()) {
        how = e->box.id == ids[added] ? outcome::ok : outcome::gone;
        which = added;
        break;
      }
      watches[added].by = &me;
      e->box.add_watch(watches[added]);
    }
    if (how == outcome::again && deadline_ns != no_wait) {
      const counted_wait counted(s.dispatch);
      if (deadline_ns == for_ever) {
        s.engine.wait(me);
      } else if (!s.engine.wait_until(me, deadline_ns)) {
        how = outcome::timed_out;
      }
    }
    for (std::size_t i = 0; i < added; ++i) {
      local_endpoint* e = s.local(ids[i]);
      const std::scoped_lock guard(e->box.lock);
      e->box.remove_watch(watches[i]);
    }
    // Whoever claimed us completes us, and must be done before we go.
    if (me.claimed.exchange(true, std::memory_order_relaxed) && !me.test())  // says who wins
      s.engine.wait(me);
    if (how != outcome::again) return how;
    if (deadline_ns != no_wait) continue;  // woken: look
    if (std::exchange(polled, true)) return outcome::again;
    s.engine.poll();
  }
}

}  // namespace headway::endpoints
