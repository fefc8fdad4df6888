#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "packets/bundle/bundle.hpp"
#include "packets/bundle/keeper.hpp"
#include "packets/peers.hpp"

// What a bundle does in its section S, in the hands of whoever holds the mask.
namespace headway::packets {
namespace {

constexpr std::size_t packets_per_frame_max = 64;
/// Tells a frame's cookie from an outgoing item's, which is aligned; see rail.cpp.
constexpr std::uint64_t frame_bit = 1;

/// Each kind of packet in its own order: what `strategy::choose` promises.
bool keeps_order(const outgoing* first, std::span<const outgoing* const> chosen) noexcept {
  const auto next_of = [](const outgoing* item, bool urgent) {
    while (item && item->urgent != urgent) item = item->next.load(std::memory_order_relaxed);
    return item;
  };
  const outgoing* next[2] = {next_of(first, false), next_of(first, true)};
  for (const outgoing* item : chosen) {
    if (!item || item != next[item->urgent]) return false;
    next[item->urgent] = next_of(item->next.load(std::memory_order_relaxed), item->urgent);
  }
  return true;
}

}  // namespace

posted bundle::post(outgoing& item) noexcept {
  if (to_.lost()) return posted::down;
  auto answer = posted::pending;
  if (!mask_.try_hold()) {
    mask_.submit(item);
    flush();
  } else {
    adopt_submitted();
    append(item);
    posting_ = &item;
    posting_done_ = false;
    pump();
    posting_ = nullptr;
    if (posting_done_) answer = posted::done;
    mask_.let_go();
    if (mask_.any_submitted()) flush();
  }
  // Lost meanwhile: who finds it so inside the section ends what waits, and `fail_all` comes last.
  if (to_.lost()) flush();
  return answer;
}

void bundle::append(outgoing& item) noexcept {
  item.next.store(nullptr, std::memory_order_relaxed);  // ours: under the mask
  outgoing** first = &first_;
  outgoing** last = &last_;
  if (item.head_bytes == 0) {
    lane& l = *lanes_[static_cast<flow_piece&>(item).lane];
    first = &l.first_piece;
    last = &l.last_piece;
  } else {
    ++count_;
  }
  if (*last) {
    (*last)->next.store(&item, std::memory_order_relaxed);
  } else {
    *first = &item;
  }
  *last = &item;
}

void bundle::adopt_submitted() noexcept {
  outgoing* item = mask_.take_all();
  while (item) {
    outgoing* following = item->next.load(std::memory_order_relaxed);
    append(*item);
    item = following;
  }
}

void bundle::flush() noexcept {
  while (mask_.any_submitted()) {
    if (!mask_.try_hold()) return;  // the holder looks again when it has let go
    adopt_submitted();
    pump();
    mask_.let_go();
  }
}

void bundle::try_pump() noexcept {
  if (!mask_.try_hold()) {
    // Its holder may be past what we want; the next reaping pumps again.
    if (!waiting_.exchange(true, std::memory_order_relaxed)) keeper_.bundle_waiting(true);
    return;
  }
  adopt_submitted();
  pump();
  mask_.let_go();
  flush();
}

void bundle::reaped(std::size_t rail_index) noexcept {
  if (!mask_.try_hold()) return;
  for (auto& l : lanes_)
    if (l->rail_index == rail_index) l->blocked = false;
  adopt_submitted();
  pump();
  mask_.let_go();
  flush();
}

void bundle::pump() noexcept {
  if (to_.lost()) return drop_waiting();
  ring_.reclaim();
  if (lent_ != 0) [[unlikely]]
    take_back_lent();
  if (unblock_.exchange(false, std::memory_order_relaxed))
    for (auto& l : lanes_) l->blocked = false;
  if (dead_lanes_.load(std::memory_order_relaxed) != 0) {  // a hint; try_pump comes after the store
    const auto dead = dead_lanes_.exchange(0, std::memory_order_relaxed);
    for (auto n = ring_.oldest(); n != ring_.next(); ++n) {
      auto& f = ring_.at(n);
      if (f.lane == no_lane || (dead >> f.lane & 1) == 0) continue;
      f.lane = no_lane;
      resending_ = true;
    }
  }
  probe();
  if (ask_now_.exchange(false, std::memory_order_relaxed)) asking_ = (1u << lanes_.size()) - 1;
  answering_ |= answer_lanes_.exchange(0, std::memory_order_relaxed);
  if ((asking_ | answering_) != 0) send_words();
  bool pieces_wait = false;
  for (auto& l : lanes_) {
    if (l->first_piece && l->helper.free()) send_pieces(*l);
    pieces_wait |= l->first_piece != nullptr;
  }
  const bool flowing = resend() && pump_packets();
  if (acknowledge_now_.exchange(false, std::memory_order_relaxed)) acknowledge();
  // With nothing left to wait for the next reaping nobody would find them free again.
  if (flowing && !pieces_wait)
    for (auto& l : lanes_) l->blocked = false;
  const bool wait = !flowing || pieces_wait || (asking_ | answering_) != 0;
  if (waiting_.load(std::memory_order_relaxed) != wait &&
      waiting_.exchange(wait, std::memory_order_relaxed) != wait)
    keeper_.bundle_waiting(wait);
  if (wait || !ring_.empty()) mark_active();
}

bool bundle::takes_now(const lane& l) noexcept {
  return l.up.load(std::memory_order_relaxed) && l.proved.load(std::memory_order_relaxed) &&
         !l.blocked && l.helper.free();
}

/// The nearest rail that is neither down nor blocked nor in `passed_over`, or -1.
int bundle::idle_lane(std::uint32_t passed_over) const noexcept {
  int best = -1;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const lane& l = *lanes_[i];
    if (!takes_now(l) || (passed_over >> i & 1)) continue;
    if (best < 0 || l.what.latency_ns < lanes_[static_cast<std::size_t>(best)]->what.latency_ns)
      best = static_cast<int>(i);
  }
  return best;
}

/// As the sending of packets sees them. Only `eager` of the profiles may be read: `piece` is learnt
/// in F.
void bundle::describe_lanes(std::span<rail_state> states) const noexcept {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const lane& l = *lanes_[i];
    using enum rail_state::condition;
    const auto now = !l.up.load(std::memory_order_relaxed) ? down : takes_now(l) ? idle : busy;
    states[i] = {
        .now = now, .latency_ns = l.what.latency_ns, .busy_until_ns = 0, .profile = &l.profile};
  }
}

std::size_t bundle::choose(std::uint32_t on, std::span<const outgoing*> chosen) noexcept {
  std::array<rail_state, rails_per_peer_max> states;
  describe_lanes(states);
  const auto rails = std::span(states).first(lanes_.size());
  const frame_room room{.packets_max = chosen.size(), .bytes_max = frame_bytes_max_ / 2};
  // The oldest decides for all that leave with it.
  const auto& how = first_->how ? *first_->how : to_.strategy();
  const auto count = how.choose({first_, count_}, on, rails, room, chosen);
  if (count == 0) return 0;
  std::size_t bytes = 0;
  for (const auto* item : chosen.first(std::min(count, chosen.size()))) {
    if (!item) break;
    bytes += room_in_frame(*item);
  }
  if (count <= chosen.size() && bytes <= frame_bytes_max_ &&
      keeps_order(first_, chosen.first(count)))
    return count;
  chosen[0] = first_;
  return 1;
}

/// Takes them out before they are sent: what is `answered` may be gone as soon as a driver has it.
void bundle::unlink(std::span<outgoing* const> chosen) noexcept {
  outgoing* before = nullptr;
  std::size_t left = chosen.size();
  for (outgoing* item = first_; item && left > 0;) {
    outgoing* following = item->next.load(std::memory_order_relaxed);
    if (std::ranges::find(chosen, item) == chosen.end()) {
      before = item;
    } else {
      --left;
      --count_;
      if (before) {
        before->next.store(following, std::memory_order_relaxed);
      } else {
        first_ = following;
      }
      if (last_ == item) last_ = before;
    }
    item = following;
  }
}

void bundle::put_back(std::span<outgoing* const> chosen) noexcept {
  for (std::size_t i = chosen.size(); i-- > 0;) {
    chosen[i]->next.store(first_, std::memory_order_relaxed);
    first_ = chosen[i];
    if (!last_) last_ = chosen[i];
    ++count_;
  }
}

std::size_t bundle::write_frame(std::span<outgoing* const> chosen, std::byte* memory) noexcept {
  const std::uint32_t credit = to_.consumed_total();
  std::byte* at = memory;
  for (const outgoing* item : chosen) {
    const auto bytes = item->head_bytes + item->payload.size();
    const packet_mark mark{.bytes = static_cast<std::uint32_t>(bytes)};
    std::memcpy(at, &mark, sizeof mark);
    at += sizeof mark;
    std::memcpy(at, item->head.data(), item->head_bytes);
    std::memcpy(at, &credit, sizeof credit);
    if (!item->payload.empty())
      std::memcpy(at + item->head_bytes, item->payload.data(), item->payload.size());
    std::memset(at + bytes, 0, padded(bytes) - bytes);
    at += padded(bytes);
  }
  to_.advertised_.store(credit, std::memory_order_relaxed);
  return static_cast<std::size_t>(at - memory);
}

bool bundle::pump_packets() noexcept {
  std::uint32_t passed_over = 0;
  while (first_) {
    const int on = idle_lane(passed_over);
    if (on < 0) return false;
    if (send_in_parts(static_cast<std::uint32_t>(on))) return !resending_;
    std::array<const outgoing*, packets_per_frame_max> wanted;
    const auto count = choose(static_cast<std::uint32_t>(on), wanted);
    if (count == 0) {
      passed_over |= 1u << on;
      continue;
    }
    switch (send_packets(static_cast<std::uint32_t>(on), std::span(wanted).first(count))) {
      case sending::taken:
        break;
      case sending::full:
        return false;
      case sending::retry:
      case sending::down:
        passed_over |= 1u << on;
        break;
    }
  }
  return true;
}

bundle::sending bundle::send_packets(std::uint32_t on,
                                     std::span<const outgoing* const> wanted) noexcept {
  // They are all in our list, which is ours to change.
  std::array<outgoing*, packets_per_frame_max> list;
  std::array<bool, packets_per_frame_max> told_when_sent;
  const auto chosen = std::span(list).first(wanted.size());
  std::size_t room = 0;
  std::uint32_t charge = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    chosen[i] = const_cast<outgoing*>(wanted[i]);
    outgoing& item = *chosen[i];
    const auto stored = to_.charged_ + charge - to_.returned_.load(std::memory_order_relaxed);
    if (item.charge != 0 && stored + item.charge > to_.credit_bytes_) item.demote(item);
    charge += item.charge;
    room += room_in_frame(item);
    told_when_sent[i] = !item.answered;
  }
  std::byte* memory = ring_.reserve(room);
  if (!memory) return sending::full;
  const auto bytes = write_frame(chosen, memory);
  unlink(chosen);
  const auto number = ring_.next();
  ring_.commit(memory, bytes, static_cast<std::uint16_t>(chosen.size()));
  const auto how = send_frame(number, on);
  if (how != sending::taken) {
    ring_.undo();
    put_back(chosen);
    return how;
  }
  to_.charged_ += charge;
  statistics::add(keeper_.counts.frames);
  statistics::add(keeper_.counts.packets, chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (!told_when_sent[i]) continue;
    if (chosen[i] == posting_) {
      posting_done_ = true;
    } else {
      chosen[i]->sent(*chosen[i], true);
    }
  }
  return sending::taken;
}

bundle::sending bundle::send_frame(std::uint32_t number, std::uint32_t on) noexcept {
  lane& l = *lanes_[on];
  auto& f = ring_.at(number);
  const auto due = due_.load(std::memory_order_relaxed);
  const frame_head head{.acknowledged = due,
                        .kind = frame_kind::data,
                        .packets = f.packets,
                        .sequence = number,
                        .bytes = f.bytes};
  replay_ring::hold(f);
  const auto answer =
      l.via.send(to_.id(), {.header = std::as_bytes(std::span(&head, 1)),
                            .payload = {f.memory, f.bytes},
                            .cookie = reinterpret_cast<std::uintptr_t>(&f) | frame_bit,
                            .alone = true});
  if (answer != rails::post::posted) replay_ring::let_go(f);
  if (answer == rails::post::retry) {
    l.blocked = true;
    return sending::retry;
  }
  if (answer == rails::post::down) {
    l.blocked = true;
    l.refused.store(true, std::memory_order_relaxed);
    return sending::down;
  }
  f.lane = static_cast<std::uint8_t>(on);
  told_ = due;
  told_seen_.store(due, std::memory_order_relaxed);
  return sending::taken;
}

/// Frames of lost rails go first: everything behind them waits at the peer.
bool bundle::resend() noexcept {
  if (!resending_) return true;
  const auto known = ring_.acknowledged_so_far();
  for (auto n = ring_.oldest(); n != ring_.next(); ++n) {
    if (ring_.at(n).lane != no_lane || static_cast<std::int32_t>(known - n) > 0) continue;
    while (true) {
      const int on = idle_lane(0);
      if (on < 0) return false;
      if (send_frame(n, static_cast<std::uint32_t>(on)) == sending::taken) break;
    }
    statistics::add(keeper_.counts.replays);
  }
  resending_ = false;
  return true;
}

/// A frame without packets. False: it did not leave.
bool bundle::send_word(lane& l, frame_kind kind) noexcept {
  if (!l.helper.free()) return false;
  const auto due = due_.load(std::memory_order_relaxed);
  const frame_head head{.acknowledged = due, .kind = kind};
  const auto answer =
      l.via.send(to_.id(), {.header = std::as_bytes(std::span(&head, 1)), .payload = {}});
  if (answer == rails::post::down) l.refused.store(true, std::memory_order_relaxed);
  if (answer != rails::post::done) return false;
  told_ = due;
  told_seen_.store(due, std::memory_order_relaxed);
  return true;
}

/// Questions, on every rail: one that answers is the witness against one that does not.
void bundle::send_words() noexcept {
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    const auto bit = 1u << i;
    lane& l = *lanes_[i];
    if (!l.up.load(std::memory_order_relaxed)) {
      asking_ &= ~bit;
      answering_ &= ~bit;
    }
    if ((answering_ & bit) != 0 && send_word(l, frame_kind::ack)) answering_ &= ~bit;
    if ((asking_ & bit) == 0 || !send_word(l, frame_kind::ask)) continue;
    asking_ &= ~bit;
    statistics::add(keeper_.counts.questions);
  }
}

void bundle::acknowledge() noexcept {
  const bool again = told_stale_.exchange(false, std::memory_order_relaxed);
  if (!again && due_.load(std::memory_order_relaxed) == told_) return;  // it rode on something
  for (auto& l : lanes_) {
    if (!l->up.load(std::memory_order_relaxed) || !l->proved.load(std::memory_order_relaxed) ||
        !send_word(*l, frame_kind::ack))
      continue;
    statistics::add(keeper_.counts.acknowledgements);
    return;
  }
}

void bundle::send_pieces(lane& l) noexcept {
  while (l.first_piece) {
    auto& piece = static_cast<flow_piece&>(*l.first_piece);
    l.first_piece = piece.next.load(std::memory_order_relaxed);
    if (!l.first_piece) l.last_piece = nullptr;
    l.pieces_out.fetch_add(1, std::memory_order_relaxed);  // before its event can come
    const auto answer = l.via.send(
        to_.id(), {.header = {},
                   .payload = piece.payload,
                   .landing = piece.landing,
                   .offset = piece.offset,
                   .cookie = reinterpret_cast<std::uintptr_t>(static_cast<outgoing*>(&piece))});
    if (answer == rails::post::posted) {
      all_.engine().pending_started();  // ended with its event, see rail.cpp
      continue;
    }
    l.pieces_out.fetch_sub(1, std::memory_order_relaxed);
    if (answer == rails::post::retry) {
      piece.next.store(l.first_piece, std::memory_order_relaxed);
      l.first_piece = &piece;
      if (!l.last_piece) l.last_piece = &piece;
      return;
    }
    if (answer == rails::post::down) {
      // The other end may not know, or be back before us: it has to ask again.
      send_control({.kind = control_kind::refuse,
                    .lane = piece.lane,
                    .send_id = piece.flow->send_id,
                    .zone = static_cast<std::uint32_t>(piece.landing),
                    .bytes = piece.payload.size()});
      l.refused.store(true, std::memory_order_relaxed);
    }
    piece_over(piece, answer == rails::post::done);
  }
}

/// After `to_` is lost: ends what waits.
void bundle::drop_waiting() noexcept {
  while (outgoing* item = first_) {
    first_ = item->next.load(std::memory_order_relaxed);
    --count_;
    item->sent(*item, false);
  }
  last_ = nullptr;
  for (auto& l : lanes_)
    while (outgoing* piece = l->first_piece) {
      l->first_piece = piece->next.load(std::memory_order_relaxed);
      if (!l->first_piece) l->last_piece = nullptr;
      piece_over(static_cast<flow_piece&>(*piece), false);
    }
  if (waiting_.exchange(false, std::memory_order_relaxed)) keeper_.bundle_waiting(false);
}

void bundle::piece_sent(outgoing& item, bool well) noexcept {
  auto& piece = static_cast<flow_piece&>(item);
  piece.of->lanes_[piece.lane]->pieces_out.fetch_sub(1, std::memory_order_relaxed);
  piece.of->piece_over(piece, well);
}

void bundle::control_sent(outgoing& item, bool) noexcept {
  auto& c = static_cast<control_item&>(item);
  c.of->keeper_.give_back(c);
}

void bundle::send_control(const control& c) noexcept {
  control_item& item = keeper_.take_control();
  item.of = this;
  item.head_bytes = sizeof c;
  std::memcpy(item.head.data(), &c, sizeof c);
  item.urgent = true;
  item.answered = false;
  item.charge = 0;
  item.payload = {};
  item.landing = rails::landing_id::none;
  item.sent = &bundle::control_sent;
  if (post(item) != posted::pending) keeper_.give_back(item);
}

void bundle::send_controls(const controls& all) noexcept {
  for (const auto& c : all) send_control(c);
}

void bundle::mark_active() noexcept {
  if (active_.load(std::memory_order_relaxed)) return;
  if (!active_.exchange(true, std::memory_order_relaxed)) keeper_.bundle_active(true);
}

}  // namespace headway::packets
