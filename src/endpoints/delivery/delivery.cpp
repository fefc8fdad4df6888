#include "endpoints/delivery/delivery.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "endpoints/delivery/misuse.hpp"
#include "endpoints/delivery/units.hpp"
#include "endpoints/parts.hpp"

namespace headway::endpoints {
namespace {

constexpr std::uint32_t gathered_min = 4;  // messages; if fewer gather, the pause does not pay

/// Counts a waiting thread, if a dispatcher wants that.
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

/// Before a wait for a message that probably comes from a thread of this process: that thread does
/// not depend on a poll here, and only one thread of a process polls anyway.
void spin(const waiting_thread& me) noexcept {
  constexpr int looks = 100;  // some microseconds: less than the cost of a wake-up
  for (int i = 0; i < looks && !me.test(); ++i) base::relax();
}

/// Pauses so that messages gather: see `inbox::gathers`.
[[gnu::noinline]] void look_away() noexcept {
  constexpr std::uint64_t away_ns = 1'000;
  const auto until = base::machine_now_ns() + away_ns;
  while (base::machine_now_ns() < until) base::relax();
}

}  // namespace

void delivery::account(inbox& box, const parcel& p, woken& then, std::uint32_t& due) noexcept {
  due = 0;
  if (p.charge == 0) return;
  if (p.from.process == self_) return return_units(box, p.charge, then);
  due = owe(box.owed_to(p.from.process), p.charge);
}

void delivery::return_units(inbox& box, std::uint32_t units, woken& then) noexcept {
  box.from_here -= std::min(box.from_here, units);
  if (box.from_here <= queue_units_ / 2) box.wake_senders(then);
}

parcel* delivery::take(inbox& box, const filter& wanted, woken& then, std::uint32_t& due) noexcept {
  parcel* p = box.take(wanted);
  return_units(box, std::exchange(box.unreturned, 0u), then);
  box.note_aside();
  if (!p) return nullptr;
  box.note_sender(p->from.process == self_);
  account(box, *p, then, due);
  return p;
}

bool delivery::take_at_once(inbox& box, const filter& wanted, taken& found,
                            waiting_thread* me) noexcept {
  if (box.maybe_aside()) return false;
  woken then;
  const base::lock_guard guard(box.lock);
  found.open = box.id == found.number;
  if (!found.open) return true;
  if (box.maybe_aside() || box.several()) return false;
  found.p = box.take_waiting(wanted);
  if (found.p) {
    box.note_sender(found.p->from.process == self_);
    account(box, *found.p, then, found.due);
    found.more = box.from_here;
  } else if (me) {
    box.add_receiver(*me);
  }
  return true;
}

void delivery::take_or_wait(inbox& box, const filter& wanted, taken& found,
                            waiting_thread* me) noexcept {
  woken then;
  const base::lock_guard first(box.taking);
  found.open = box.taking_id == found.number;
  if (!found.open) return;
  found.p = take_aside(box, wanted, then, found.due);
  if (found.p) return;
  const base::lock_guard guard(box.lock);
  found.p = take(box, wanted, then, found.due);
  found.more = box.from_here;
  if (!found.p && me) box.add_receiver(*me);
}

parcel* delivery::take_aside(inbox& box, const filter& wanted, woken& then,
                             std::uint32_t& due) noexcept {
  due = 0;
  parcel* p = box.take_aside(wanted);
  if (!p) return nullptr;
  const bool is_near = p->from.process == self_;
  box.note_sender(is_near);
  if (is_near) {
    box.unreturned += p->charge;
    if (box.unreturned <= queue_units_ / 4) return p;
    const base::lock_guard guard(box.lock);
    return_units(box, std::exchange(box.unreturned, 0u), then);
    return p;
  }
  const base::lock_guard guard(box.lock);
  account(box, *p, then, due);
  return p;
}

/// Inline, so that the fields for the receiver are not stored and loaded again on their way to the
/// program.
[[gnu::always_inline]] inline outcome delivery::finish(parcel& p, message& out) noexcept {
  block& own = block_of(p);
  block* const contents = p.contents;  // before `p`, which may be in it, belongs to the program
  const bool lent = p.lent;
  out.data = nullptr;
  out.bytes = p.bytes;
  out.tag = p.tag;
  out.from = p.from;
  if (&own != contents) buffers_.end_message(own, false);
  if (!contents) return outcome::ok;
  out.data = lent ? buffers_.address_of(*contents, true) : contents->data();
  const bool written = buffers_.checks() && contents->checksum != checksum(*contents, out.bytes);
  buffers_.receive(*contents, lent);
  return written ? report_misuse(wrong::written, out.data) : outcome::ok;
}

void delivery::tell_credit(std::uint32_t id, std::uint32_t process, std::uint32_t due) noexcept {
  out_.tell(
      process,
      message_head{.kind = wire_kind::credit, .from = id, .tag = static_cast<std::int32_t>(due)});
}

void delivery::tell_gone(std::uint32_t id, std::uint32_t process) noexcept {
  out_.tell(process, message_head{.kind = wire_kind::gone, .to = id});
}

void delivery::drop(parcel& p) noexcept {
  block& own = block_of(p);
  block* contents = p.contents;
  const bool lent = p.lent;
  if (&own != contents) buffers_.end_message(own, false);
  if (contents) buffers_.end_message(*contents, lent);
}

parcel& delivery::wrap(const pool::found& f, bool keep) {
  const bool lent = keep || f.lent;
  block& carrier = f.header && !lent ? *f.header : buffers_.request_internal(0);
  carrier.waits.contents = f.header;
  carrier.waits.lent = lent;
  return carrier.waits;
}

bool delivery::is_open(std::uint32_t id) noexcept {
  local_endpoint* e = here_.find(id);
  if (!e) return false;
  const base::lock_guard guard(e->box.lock);
  return e->box.id == id;
}

outcome delivery::put(std::uint32_t to, parcel& p, std::uint64_t deadline_ns) noexcept {
  local_endpoint* e = here_.find(to);
  if (!e) return outcome::gone;
  for (bool polled = false;;) {
    waiting_thread me;
    bool run = false, full = false;
    {
      woken then;
      const base::lock_guard guard(e->box.lock);
      if (e->box.id != to) return outcome::gone;
      full = e->box.from_here >= queue_units_;
      if (full && deadline_ns != no_wait) e->box.add_sender(me);
      if (!full && e->box.put(p, then)) {
        p.charge = static_cast<std::uint16_t>(charge_of(p.bytes, queue_units_));
        e->box.from_here += p.charge;
        run = e->becomes_runnable();
      }
    }
    if (run) here_.handlers().ready(*e);
    if (!full) return outcome::ok;
    if (deadline_ns == no_wait) {
      if (std::exchange(polled, true)) return outcome::again;
      engine_.poll();
    } else if (!wait_listed(engine_, me, deadline_ns, [&] {
                 const base::lock_guard guard(e->box.lock);
                 return e->box.remove_sender(me);
               })) {
      return outcome::timed_out;
    }
  }
}

bool delivery::bytes_arrived(std::uint32_t to, parcel& p, bool well) noexcept {
  HEADWAY_ASSERT(!p.ready);
  local_endpoint* e = here_.find(to);
  if (!e) return false;
  bool run = false;
  {
    woken then;
    const base::lock_guard guard(e->box.lock);
    if (e->box.id != to) return false;
    if (!well) {
      e->box.withdraw(p);
      return false;
    }
    e->box.now_ready(p, then);
    run = !e->box.empty() && e->becomes_runnable();
  }
  if (run) here_.handlers().ready(*e);
  return true;
}

[[gnu::always_inline]] inline outcome delivery::receive(std::uint32_t id, const filter& wanted,
                                                        std::uint64_t deadline_ns,
                                                        message& out) noexcept {
  local_endpoint* e = here_.find(id);
  if (!e) return outcome::gone;
  inbox& box = e->box;
  waiting_thread me;
  me.wanted = wanted;
  waiting_thread* const stays = deadline_ns == no_wait ? nullptr : &me;
  const bool near = box.near.load(std::memory_order_relaxed);                           // a hint
  const bool gathers = near && stays && box.drained.load(std::memory_order_relaxed) &&  // hints
                       box.gathers.due();
  if (gathers) look_away();
  for (bool polled = false;; polled = true) {
    taken found{.number = id};
    if (!take_at_once(box, wanted, found, stays)) take_or_wait(box, wanted, found, stays);
    if (gathers) box.gathers.learn(found.p && found.more >= gathered_min - 1);
    if (!found.open) return outcome::gone;
    if (found.p) {
      give_credit(id, found.p->from.process, found.due);
      return finish(*found.p, out);
    }
    if (stays) break;
    if (polled) return outcome::again;
    engine_.poll();
  }
  if (near && box.spins.due()) {
    spin(me);
    box.spins.learn(me.test());
  }
  if (!me.test()) {
    const counted_wait counted(here_.handlers());
    if (!wait_listed(engine_, me, deadline_ns, [&] {
          const base::lock_guard guard(box.lock);
          return box.remove_receiver(me);
        }))
      return outcome::timed_out;
  }
  if (!me.received) return outcome::gone;
  box.note_sender(me.received->from.process == self_);
  std::uint32_t due = 0;
  if (me.received->charge != 0) {
    woken then;
    const base::lock_guard guard(box.lock);
    if (box.id == id) account(box, *me.received, then, due);
  }
  give_credit(id, me.received->from.process, due);
  return finish(*me.received, out);
}

bool delivery::take_for_handler(local_endpoint& at, message& out, handler& by) noexcept {
  parcel* p = nullptr;
  std::uint32_t due = 0, id = 0;
  {
    woken then;
    const base::lock_guard first(at.box.taking);
    if (at.by.call) p = take_aside(at.box, {}, then, due);
    if (!p) {
      const base::lock_guard guard(at.box.lock);
      if (at.by.call) p = take(at.box, {}, then, due);
      if (!p) {
        at.runnable = false;
        return false;
      }
    }
    id = at.box.taking_id;
    by = at.by;
  }
  give_credit(id, p->from.process, due);
  static_cast<void>(finish(*p, out));
  return true;
}

outcome delivery::wait_any(std::span<const std::uint32_t> ids, std::uint64_t deadline_ns,
                           std::size_t& which) {
  std::vector<watch> watches(ids.size());
  for (bool polled = false;;) {
    watching_thread me;
    std::size_t added = 0;
    auto how = outcome::again;
    for (; added < ids.size() && how == outcome::again; ++added) {
      local_endpoint* e = here_.find(ids[added]);
      if (!e) {
        how = outcome::gone;
        which = added;
        break;
      }
      const base::lock_guard first(e->box.taking);
      const base::lock_guard guard(e->box.lock);
      if (e->box.id != ids[added] || e->box.any()) {
        how = e->box.id == ids[added] ? outcome::ok : outcome::gone;
        which = added;
        break;
      }
      watches[added].by = &me;
      e->box.add_watch(watches[added]);
    }
    if (how == outcome::again && deadline_ns != no_wait) {
      const counted_wait counted(here_.handlers());
      if (deadline_ns == for_ever) {
        engine_.wait(me);
      } else if (!engine_.wait_until(me, deadline_ns)) {
        how = outcome::timed_out;
      }
    }
    for (std::size_t i = 0; i < added; ++i) {
      local_endpoint* e = here_.find(ids[i]);
      const base::lock_guard guard(e->box.lock);
      e->box.remove_watch(watches[i]);
    }
    // The thread that claimed `me` completes it, and must have finished before `me` is destroyed.
    if (me.claimed.exchange(true, std::memory_order_relaxed) && !me.test())  // one thread wins
      engine_.wait(me);
    if (how != outcome::again) return how;
    if (deadline_ns != no_wait) continue;  // woken: look
    if (std::exchange(polled, true)) return outcome::again;
    engine_.poll();
  }
}

outcome service::receive(std::uint32_t id, const filter& wanted, std::uint64_t deadline_ns,
                         message& out) noexcept {
  parts_->bulk.prepost_if_due();
  return parts_->inboxes.receive(id, wanted, deadline_ns, out);
}

}  // namespace headway::endpoints
