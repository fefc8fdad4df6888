#include <algorithm>
#include <array>

#include "packets/bundle/bundle.hpp"
#include "packets/bundle/keeper.hpp"
#include "packets/peers.hpp"

// Packets that leave in parts, over several rails at once: a frame whose `packets` is 0 goes on in
// the next one. Each part is a frame like others, numbered, kept and sent again.
namespace headway::packets {
namespace {

constexpr std::size_t line = 64;  // frames begin at multiples of it in the ring
constexpr std::uint64_t frame_bit = 1;

}  // namespace

bool bundle::sound_cut(std::span<const piece> parts, std::uint64_t bytes,
                       std::uint32_t on) const noexcept {
  std::uint64_t at = 0;
  std::uint32_t used = 0;
  for (const auto& p : parts) {
    const bool known = p.rail < lanes_.size() && (used >> p.rail & 1) == 0;
    if (!known || p.offset != at || p.bytes == 0 || p.bytes > bytes - at) return false;
    const lane& l = *lanes_[p.rail];
    if (!takes_now(l)) return false;
    used |= 1u << p.rail;
    at += p.bytes;
  }
  return at == bytes && parts.size() > 1 && parts.front().rail == on;
}

/// The packet that waits, if it is alone; `on` is idle. False: it leaves whole.
bool bundle::send_in_parts(std::uint32_t on) noexcept {
  constexpr std::size_t cut_bytes_min = 2048;  // below, not even asked about
  if (count_ != 1) return false;
  outgoing& item = *first_;
  const auto bytes = room_in_frame(item);
  if (bytes < cut_bytes_min) return false;
  const auto stored = to_.charged_ - to_.returned_.load(std::memory_order_relaxed);
  if (item.charge != 0 && stored + item.charge > to_.credit_bytes_) return false;
  std::array<rail_state, rails_per_peer_max> states;
  describe_lanes(states);
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    if (!lanes_[i]->packets_measured) states[i].profile = nullptr;
  const auto hands = all_.engine().spare_hands();
  const helpers who{.idle = static_cast<std::size_t>(hands.idle), .wake_ns = hands.wake_ns};
  std::array<piece, rails_per_peer_max> pieces;
  const auto& how = item.how ? *item.how : to_.strategy();
  const auto count = how.cut(bytes, on, std::span(states).first(lanes_.size()), who, pieces);
  if (count < 2 || count > lanes_.size()) return false;
  const auto parts = std::span(pieces).first(count);
  return sound_cut(parts, bytes, on) && send_parts(item, parts);
}

/// False: there is no room in the ring.
bool bundle::send_parts(outgoing& item, std::span<const piece> parts) noexcept {
  outgoing* const chosen[] = {&item};
  const auto bytes = room_in_frame(item);
  const bool answered = item.answered;
  if (!ring_.holds(parts.size())) return false;
  std::byte* const memory = ring_.reserve(bytes);
  if (!memory) return false;
  static_cast<void>(write_frame(chosen, memory));
  unlink(chosen);
  to_.charged_ += item.charge;
  const auto first = ring_.next();
  std::size_t at = 0;
  std::size_t count = 0;
  for (const auto& p : parts) {  // one that rounding leaves nothing for is no frame
    const bool last = &p == &parts.back();
    const auto end = last ? bytes : std::min((p.offset + p.bytes + line - 1) / line * line, bytes);
    if (end == at) continue;
    ring_.commit(memory + at, end - at, end == bytes ? 1 : 0);
    ring_.at(first + static_cast<std::uint32_t>(count++)).lane = static_cast<std::uint8_t>(p.rail);
    statistics::add_alone(lanes_[p.rail]->frames);
    if (end == bytes) statistics::add_alone(lanes_[p.rail]->packets);
    at = end;
    if (at == bytes) break;
  }
  for (std::uint32_t n = first + 1; n != ring_.next(); ++n) lend(n);
  if (send_frame(first, ring_.at(first).lane) != sending::taken) send_again(first);
  statistics::add(keeper_.counts.cut);
  if (answered) return true;
  if (&item == posting_) {
    posting_done_ = true;
  } else {
    item.sent(item, true);
  }
  return true;
}

/// Some rail has not taken it: others are tried, before anything behind it leaves.
void bundle::send_again(std::uint32_t number) noexcept {
  ring_.at(number).lane = no_lane;
  resending_ = true;
}

/// Its rail gets it from whoever polls next.
void bundle::lend(std::uint32_t number) noexcept {
  auto& f = ring_.at(number);
  lane& l = *lanes_[f.lane];
  replay_ring::hold(f);
  l.helper.lend({.of = this,
                 .lane = f.lane,
                 .number = number,
                 .frame = &f,
                 .head = {.acknowledged = due_.load(std::memory_order_relaxed),
                          .kind = frame_kind::data,
                          .packets = f.packets,
                          .sequence = number,
                          .bytes = f.bytes}});
  lent_ |= 1u << f.lane;
  all_.engine().submit_to_background(l.helper);
}

progress::ltask_result bundle::help(progress::ltask& self) noexcept {
  auto& helper = static_cast<lane_helper&>(self);
  const auto order = helper.take();
  bundle& of = *order.of;
  auto& f = *order.frame;
  const auto answer = of.lanes_[order.lane]->via.send(
      of.to_.id(), {.header = std::as_bytes(std::span(&order.head, 1)),
                    .payload = {f.memory, f.bytes},
                    .cookie = reinterpret_cast<std::uintptr_t>(&f) | frame_bit,
                    .alone = true});
  if (answer != rails::post::posted) replay_ring::let_go(f);
  helper.give(answer);
  of.try_pump();
  return progress::ltask_result::done;
}

/// What helpers have answered.
void bundle::take_back_lent() noexcept {
  for (auto& l : lanes_) {
    if (l->helper.free() || !l->helper.take_back()) continue;
    const auto& what = l->helper.what();
    lent_ &= ~(1u << what.lane);
    const auto answer = l->helper.answer();
    if (answer == rails::post::done || answer == rails::post::posted) continue;
    l->blocked = true;
    if (answer == rails::post::down) l->refused.store(true, std::memory_order_relaxed);
    const bool kept = what.number - ring_.oldest() < ring_.next() - ring_.oldest();
    if (kept && ring_.at(what.number).lane == what.lane) send_again(what.number);
  }
}

void bundle::end_help() noexcept {
  for (auto& l : lanes_) static_cast<void>(all_.engine().cancel(l->helper));
}

/// In R: a part of a frame, or the last one.
void bundle::take_part(std::span<const std::byte> contents, std::size_t packets,
                       std::uint64_t now_ns) noexcept {
  if (contents.size() > frame_bytes_max_ || parts_.size() > frame_bytes_max_ - contents.size())
    return broken("a packet in parts that is too long");
  parts_.insert(parts_.end(), contents.begin(), contents.end());
  if (packets == 0) return;
  take_packets(parts_, packets, now_ns);
  parts_.clear();
}

}  // namespace headway::packets
