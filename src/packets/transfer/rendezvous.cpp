#include "packets/transfer/rendezvous.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "packets/bundle/bundle.hpp"
#include "packets/peer_state.hpp"
#include "rails/exposures.hpp"

namespace headway::packets {
namespace {

peer_state& state_of(const transfer& t) noexcept { return static_cast<peer_state&>(*t.with); }

void write(transfer& t, const control& c) noexcept {
  write_head(t, c);
  t.payload = {};
  t.charge = 0;
  t.fall_back_to_rts = nullptr;
}

}  // namespace

std::uint32_t rendezvous::begin(transfer& t, bool sends) noexcept {
  HEADWAY_DEBUG_ASSERT(!t.counted_ && t.ended);
  t.counted_ = true;
  t.sends_ = sends;
  if (sends) state_of(t).sends_under_way.fetch_add(1, std::memory_order_relaxed);
  return state_of(t).transfers_under_way.fetch_add(1, std::memory_order_relaxed);  // a hint
}

void rendezvous::end(transfer& t, bool well) noexcept {
  if (std::exchange(t.counted_, false)) {
    state_of(t).transfers_under_way.fetch_sub(1, std::memory_order_relaxed);
    if (t.sends_) state_of(t).sends_under_way.fetch_sub(1, std::memory_order_relaxed);
  }
  if (const auto way = std::exchange(t.way_, {}); way.timed) {
    auto& all = of(t);
    all.ways_.arrived(way, t.memory.size(), all.clock_.now_ns());
  }
  t.ended(t, well);
}

rendezvous& rendezvous::of(const transfer& t) noexcept { return state_of(t).large(); }

// ---- the sender ---------------------------------------------------------------------------------

/// The peer may have fetched the message before `post` returns, so only its number is used then. If
/// the peer is lost meanwhile, the transfer ends once: here, or when the scheduler ends the rts
/// (`rts_sent`), or in `lost`, which comes after that.
void rendezvous::post_announced(peer& to, transfer& message) noexcept {
  const auto number = message.number_;
  auto& state = state_of(message);
  const bool waits = message.can_wait && engine_.ranks_fill_node() && state.lets_wait();
  const bool down = to.post(message) == posted::down;
  if (waits) left_.note(state);
  transfer* const mine = sends_.take_if(number, [&](transfer& t) {
    t.held_ = false;
    return down || to.drained();
  });
  if (mine) give_up(*mine, false);
}

/// When it has left, the peer's answer continues the transfer.
void rendezvous::rts_sent(send_item& item, bool well) noexcept {
  if (well) return;
  auto& t = static_cast<transfer&>(item);
  auto& all = of(t);
  if (all.sends_.take_if(t.number_, [](transfer& one) { return !one.held_; })) give_up(t, false);
}

/// While its rts waits, the item is the scheduler's, and the peer cannot know of it.
bool rendezvous::knows_of(const peer_state& whom, const transfer& t) noexcept {
  return t.with == &whom && !t.waits.load(std::memory_order_relaxed);
}

/// Null: no message of that number was announced to this peer, or the peer has it already.
transfer* rendezvous::find_send(std::uint32_t number, const peer_state& to) noexcept {
  transfer* found = nullptr;
  static_cast<void>(sends_.take_if(number, [&](transfer& t) {
    if (knows_of(to, t)) found = &t;
    return false;
  }));
  return found;
}

/// The same, and its number finds nothing any more.
transfer* rendezvous::take_send(std::uint32_t number, const peer_state& to) noexcept {
  return sends_.take_if(number, [&](const transfer& t) { return knows_of(to, t); });
}

void rendezvous::asked(peer_state& from, const control& c) noexcept {
  if (auto* several = from.bundle()) {
    if (transfer* t = find_send(c.send_id, from)) several->outgoing().asked(*t, c);
    return;
  }
  transfer* t = take_send(c.send_id, from);
  if (t) put(*t, c.target, std::min<std::uint64_t>(c.target.bytes, t->memory.size()));
}

void rendezvous::received(peer_state& from, const control& c) noexcept {
  transfer* t = take_send(c.send_id, from);
  if (t) give_up(*t, true);
}

/// Ends a message of which the peer wants nothing more. If a driver still has pieces of it, it ends
/// after theirs.
void rendezvous::give_up(transfer& announced, bool well) noexcept {
  auto* several = state_of(announced).bundle();
  if (!several || several->outgoing().over(announced, well)) end(announced, well);
}

void rendezvous::put(peer& to, transfer& message, const preposted& into) noexcept {
  HEADWAY_DEBUG_ASSERT(message.ended && !message.scattered);
  message.with = &to;
  put(message, into.target, message.memory.size());
}

void rendezvous::put(transfer& message, const rails::ticket& target, std::uint64_t bytes) noexcept {
  message.head_bytes = 0;
  message.answered = false;
  message.charge = 0;
  message.lent = message.lends;
  message.target = target;
  message.payload = message.memory.first(bytes);
  message.sent = &rendezvous::sent_whole;
  const auto answer = message.with->post(message);
  if (answer != posted::pending) end(message, answer == posted::done);
}

void rendezvous::sent_whole(send_item& item, bool well) noexcept {
  end(static_cast<transfer&>(item), well);
}

// ---- the receiver -------------------------------------------------------------------------------

void rendezvous::fetch(peer& from, const announced& what, transfer& into) noexcept {
  into.with = &from;
  into.theirs_ = what.number;
  const bool beside = begin(into, false) > 0 || what.beside > 0;
  if (!into.scattered) into.left = into.memory.size();
  if (into.left == 0) return tell_received(into);
  if (into.scattered || what.address == 0) return ask_for_pieces(into);
  if (auto* several = state_of(into).bundle()) return several->incoming().fetch(into);
  if (get(into, what.address, beside)) return tell_received(into);
  send_cts(into);
}

get_choice::choice rendezvous::choose_way(const transfer& into, bool beside) noexcept {
  const auto bytes = into.memory.size();
  if (engine_.threads_want_processors()) return ways_.choose_known(bytes, beside);
  auto& from = state_of(into);
  const bool crosses = from.sends_under_way.load(std::memory_order_relaxed) != 0;  // a hint
  if (crosses && bytes <= get_choice::get_bytes_max)
    return {.by = crossing_.choose(from.memory().costs_with(into.with->id()))};
  return ways_.choose(bytes, beside, clock_.now_ns());
}

/// Gets the whole message if that is faster than a put. False: it is not, or is impossible.
bool rendezvous::get(transfer& into, std::uint64_t address, bool beside) noexcept {
  auto& memory = state_of(into).memory();
  const auto id = into.with->id();
  const auto sooner = memory.limits_to(id).large;
  if (sooner == rails::sooner_by::put) return false;
  if (sooner == rails::sooner_by::measured) {
    into.way_ = choose_way(into, beside);
    if (into.way_.by == get_choice::way::put) return false;
  }
  const auto from = rails::direct_place(address, into.memory.size());
  return memory.get(id, from, into.memory, 0) == rails::post::done;
}

/// The receiver has all bytes: sends `received`. The transfer ends when that has left.
void rendezvous::tell_received(transfer& whole) noexcept {
  write(whole, {.what = control_kind::received, .send_id = whole.theirs_});
  whole.can_wait = whole.end_can_wait;
  whole.answered = false;
  whole.sent = &rendezvous::sent_whole;
  const auto answer = whole.with->post(whole);
  if (answer != posted::pending) end(whole, answer == posted::done);
}

/// Exposes the memory of a message that comes over the only rail. It has landed after `left` bytes.
/// Returns its number; 0: there is no memory to expose more.
std::uint32_t rendezvous::expose(transfer& into, std::uint64_t left) noexcept {
  into.left = left;
  into.held_ = true;
  into.shown_ = {.id = rails::exposures::never};  // it does not come in pieces
  into.shown_by_ = &state_of(into).memory();
  const auto number = landings_.insert(into, [&](std::uint32_t given) { into.number_ = given; });
  const auto shown = into.shown_by_->expose({.bytes = into.memory,
                                             .who = rails::process_set::only(into.with->id()),
                                             .token = token_of(number, 0)});
  if (shown) {
    into.shown_ = *shown;
    return number;
  }
  static_cast<void>(landings_.take(number));
  return 0;
}

/// Ends the hold. Returns the landing if it ends now because the peer is lost, as in
/// `post_announced`.
transfer* rendezvous::let_go(std::uint32_t landing_number, const peer& from, bool down) noexcept {
  landing* const mine = landings_.take_if(landing_number, [&](landing& one) {
    static_cast<transfer&>(one).held_ = false;
    return down || from.drained();
  });
  if (!mine) return nullptr;
  auto& t = static_cast<transfer&>(*mine);
  withdraw_shown(t);
  return &t;
}

/// Nothing is exposed for what comes in pieces.
void rendezvous::withdraw_shown(transfer& t) noexcept {
  if (t.shown_.id != 0) t.shown_by_->withdraw(t.shown_);
}

void rendezvous::send_cts(transfer& into) noexcept {
  if (into.with->lost()) return end(into, false);
  const auto number = expose(into, into.memory.size());
  if (number == 0) return expose_later(into);
  send_answer(into, number,
              {.what = control_kind::cts, .send_id = into.theirs_, .target = into.shown_});
}

/// The message may land before `post` returns, so only its number is used then.
void rendezvous::send_answer(transfer& into, std::uint32_t number, const control& c) noexcept {
  peer& from = *into.with;
  write(into, c);
  into.answered = true;
  into.sent = &rendezvous::cts_sent;
  const bool down = from.post(into) == posted::down;
  if (transfer* mine = let_go(number, from, down)) end(*mine, false);
}

void rendezvous::cts_sent(send_item& item, bool well) noexcept {
  if (well) return;
  auto& t = static_cast<transfer&>(item);
  const auto free = [](landing& one) { return !static_cast<transfer&>(one).held_; };
  if (!of(t).landings_.take_if(t.number_, free)) return;
  withdraw_shown(t);
  end(t, false);
}

void rendezvous::expose_later(transfer& into) noexcept {
  bool submit = false;
  {
    const base::lock_guard guard(waiting_lock_);
    into.next.store(waiting_, std::memory_order_relaxed);  // under the lock
    waiting_ = &into;
    submit = !std::exchange(retrying_, true);
  }
  if (submit) engine_.submit(retry_);
}

progress::ltask_result rendezvous::run_again(progress::ltask& self) noexcept {
  auto& all = static_cast<expose_again&>(self).of;
  send_item* item = nullptr;
  {
    const base::lock_guard guard(all.waiting_lock_);
    item = std::exchange(all.waiting_, nullptr);
  }
  while (item) {
    auto& t = static_cast<transfer&>(*item);
    item = item->next.load(std::memory_order_relaxed);  // was stored under the lock
    all.send_cts(t);
  }
  const base::lock_guard guard(all.waiting_lock_);
  all.retrying_ = all.waiting_ != nullptr;
  return all.retrying_ ? progress::ltask_result::idle : progress::ltask_result::done;
}

void rendezvous::landed(std::uint64_t token, std::uint64_t bytes) noexcept {
  landing* piece = nullptr;
  landing* const whole = landings_.take_if(static_cast<std::uint32_t>(token), [&](landing& one) {
    if (one.divided) {
      piece = &one;
      return false;
    }
    // Its cts waits: the peer cannot know of it.
    if (static_cast<transfer&>(one).waits.load(std::memory_order_relaxed)) return false;
    one.left -= std::min(bytes, one.left);
    return one.left == 0;
  });
  if (whole) return finish(*whole);
  if (piece) piece->divided->landed(*piece, token >> 32, bytes);
}

void rendezvous::finish(landing& whole) noexcept {
  auto& t = static_cast<transfer&>(whole);
  withdraw_shown(t);
  end(t, true);
}

// ---- memory that is preposted -------------------------------------------------------------------

bool rendezvous::preposts_for(const peer& from) noexcept {
  return static_cast<const peer_state&>(from).bundle() == nullptr;
}

preposted rendezvous::prepost(peer& from, transfer& into) noexcept {
  if (!preposts_for(from) || from.lost()) return {};
  HEADWAY_DEBUG_ASSERT(into.ended && !into.memory.empty() && !into.scattered);
  into.with = &from;
  // One byte more than can arrive, so that it does not end before `expect`.
  const auto number = expose(into, into.memory.size() + 1);
  if (number == 0) return {};
  const preposted zone{.number = number, .target = into.shown_};
  return let_go(number, from, false) ? preposted{} : zone;
}

void rendezvous::expect(transfer& into, std::uint64_t bytes) noexcept {
  HEADWAY_DEBUG_ASSERT(0 < bytes && bytes <= into.memory.size());
  into.left -= std::min(into.memory.size() + 1 - bytes, into.left);  // bytes that will not arrive
  if (into.left == 0 && landings_.take(into.number_)) finish(into);
}

transfer* rendezvous::withdraw(std::uint32_t preposted_number) noexcept {
  landing* const found = landings_.take(preposted_number);
  if (!found) return nullptr;
  auto& t = static_cast<transfer&>(*found);
  t.shown_by_->withdraw(t.shown_);
  return &t;
}

// ---- packets of the peer, and its loss ----------------------------------------------------------

void rendezvous::arrived(peer_state& from, const control& c) noexcept {
  switch (c.what) {
    case control_kind::cts:
      return asked(from, c);
    case control_kind::pieces:
      return asked_for_pieces(from, c);
    case control_kind::received:
      return received(from, c);
    case control_kind::refused:
      if (auto* several = from.bundle()) several->incoming().refused(c);
      return;
    case control_kind::piece:  // see arrived_piece
    case control_kind::credit:
    case control_kind::lane_down:
    case control_kind::lane_lost:
      return;
  }
}

void rendezvous::lost(peer_state& whom) noexcept {
  end_divided(whom);
  // A held one is ended by the thread that posts it, because that thread looks afterwards whether
  // the scheduler is `drained`.
  const auto ours = [&](const transfer& t) { return t.with == &whom && !t.held_; };
  while (transfer* t = sends_.take_if(ours)) give_up(*t, false);
  while (landing* one = landings_.take_if([&](const landing& some) {
    return !some.divided && ours(static_cast<const transfer&>(some));
  })) {
    auto& t = static_cast<transfer&>(*one);
    withdraw_shown(t);
    end(t, false);
  }
}

void rendezvous::end_divided(peer_state& whom) noexcept {
  auto* several = whom.bundle();
  if (!several) return;
  several->incoming().fail();
  const auto asked = [&](const transfer& t) { return t.with == &whom && t.asked_; };
  while (transfer* t = sends_.take_if(asked)) give_up(*t, false);
}

}  // namespace headway::packets
