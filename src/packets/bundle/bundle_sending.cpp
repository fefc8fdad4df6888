#include <algorithm>
#include <cstring>

#include "packets/bundle/bundle.hpp"
#include "packets/bundle/keeper.hpp"
#include "packets/peers.hpp"

// What a bundle does in its section S, in the hands of whoever holds the mask.
namespace headway::packets {
namespace {

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
  if (!mask_.any_submitted()) return;
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
    // Its holder may be past what we want; the next reaping pumps again, and the clock sees to it
    // that there is one.
    if (!waiting_.exchange(true, std::memory_order_relaxed)) keeper_.bundle_waiting(true);
    return mark_active();
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
  const auto taken = [](std::atomic<bool>& flag) {  // a look costs less than an exchange
    return flag.load(std::memory_order_relaxed) && flag.exchange(false, std::memory_order_relaxed);
  };
  if (taken(unblock_))
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
  if (taken(ask_now_)) asking_ = (1u << lanes_.size()) - 1;
  if (answer_lanes_.load(std::memory_order_relaxed) != 0)
    answering_ |= answer_lanes_.exchange(0, std::memory_order_relaxed);
  if ((asking_ | answering_) != 0) send_words();
  bool pieces_wait = false;
  for (auto& l : lanes_) {
    if (l->first_piece && l->helper.free()) send_pieces(*l);
    pieces_wait |= l->first_piece != nullptr;
  }
  const bool flowing = resend() && pump_packets();
  if (taken(acknowledge_now_)) acknowledge();
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
