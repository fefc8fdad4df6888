#include "packets/bundle/part_sender.hpp"

#include <algorithm>
#include <array>

#include "packets/bundle/bundle_set.hpp"
#include "packets/bundle/frame_sender.hpp"
#include "packets/bundle/lane.hpp"
#include "packets/cookies.hpp"
#include "packets/scheduler.hpp"

namespace headway::packets {
namespace {

constexpr std::size_t line = 64;  // frames begin at multiples of it in the ring

}  // namespace

bool part_sender::sound(std::span<const piece> parts, std::uint64_t bytes,
                        std::uint32_t on) const noexcept {
  std::uint64_t at = 0;
  std::uint32_t used = 0;
  for (const auto& p : parts) {
    const bool known = p.rail < of_.lanes.count() && (used >> p.rail & 1) == 0;
    if (!known || p.offset != at || p.bytes == 0 || p.bytes > bytes - at) return false;
    if (!of_.lanes[p.rail].takes_now()) return false;
    used |= 1u << p.rail;
    at += p.bytes;
  }
  return at == bytes && parts.size() > 1 && parts.front().rail == on;
}

bool part_sender::send(std::uint32_t on, send_item& item) noexcept {
  constexpr std::size_t cut_bytes_min = 2048;  // a smaller packet is never cut
  const auto bytes = room_in_frame(item);
  if (bytes < cut_bytes_min || !frames_.credits().fits(item.charge)) return false;
  std::array<rail_state, rails_per_peer_max> states;
  const auto rails = std::span(states).first(frames_.describe(states));
  for (std::size_t i = 0; i < rails.size(); ++i)
    if (!of_.lanes[i].packets_measured) rails[i].profile = nullptr;
  const auto hands = engine_.spare_hands();
  const helpers who{.idle = static_cast<std::size_t>(hands.idle), .wake_ns = hands.wake_ns};
  std::array<piece, rails_per_peer_max> pieces;
  const auto& how = item.how ? *item.how : of_.queue.how();
  const auto count = how.cut(bytes, on, rails, who, pieces);
  if (count < 2 || count > rails.size()) return false;
  const auto parts = std::span(pieces).first(count);
  return sound(parts, bytes, on) && send_parts(item, parts);
}

/// False: the ring is full.
bool part_sender::send_parts(send_item& item, std::span<const piece> parts) noexcept {
  send_item* const chosen[] = {&item};
  auto& ring = frames_.ring();
  const auto bytes = room_in_frame(item);
  const bool answered = item.answered;
  if (!ring.holds(parts.size())) return false;
  std::byte* const memory = ring.reserve(bytes);
  if (!memory) return false;
  static_cast<void>(frames_.write(chosen, memory));
  frames_.credits().spend(item.charge);
  const auto first = ring.next();
  std::size_t at = 0;
  std::size_t count = 0;
  for (const auto& p : parts) {  // rounding may leave a rail nothing
    const bool last = &p == &parts.back();
    const auto end = last ? bytes : std::min((p.offset + p.bytes + line - 1) / line * line, bytes);
    if (end == at) continue;
    ring.commit(memory + at, end - at, end == bytes ? 1 : 0);
    ring.at(first + static_cast<std::uint32_t>(count++)).lane = static_cast<std::uint8_t>(p.rail);
    statistics::add_alone(of_.lanes[p.rail].frames);
    if (end == bytes) statistics::add_alone(of_.lanes[p.rail].packets);
    at = end;
    if (at == bytes) break;
  }
  for (std::uint32_t n = first + 1; n != ring.next(); ++n) lend(n);
  if (frames_.send_frame(first, ring.at(first).lane) != packet_sender::answer::taken)
    frames_.send_again(first);
  statistics::add(of_.set.counts.cut);
  if (!answered) of_.queue.ended(item, true);
  return true;
}

/// Released by the thread that reaps the event of the rail.
void part_sender::lend(std::uint32_t number) noexcept {
  auto& f = frames_.ring().at(number);
  lane& l = of_.lanes[f.lane];
  replay_ring::hold(f);
  l.helper.lend(
      {.of = this, .lane = f.lane, .number = number, .frame = &f, .head = frames_.head_of(number)});
  f.departure = l.departures.given(of_.clock.now_ns(), f.bytes);
  lent_ |= 1u << f.lane;
  engine_.submit_to_background(l.helper);
}

progress::ltask_result part_sender::help(progress::ltask& self) noexcept {
  auto& helper = static_cast<lane_helper&>(self);
  const auto order = helper.take();
  const bundle_context& of = order.of->of_;
  auto& f = *order.frame;
  const auto answer =
      of.lanes[order.lane].via.send(of.to, {.header = std::as_bytes(std::span(&order.head, 1)),
                                            .payload = {f.memory, f.bytes},
                                            .cookie = cookie_of(f),
                                            .alone = true});
  if (answer != rails::post::posted) replay_ring::let_go(f);
  helper.give(answer);
  of.host.pump();
  return progress::ltask_result::done;
}

void part_sender::take_back() noexcept {
  if (lent_ == 0) [[likely]]
    return;
  auto& ring = frames_.ring();
  for (auto& l : of_.lanes) {
    if (l->helper.free() || !l->helper.take_back()) continue;
    const auto& what = l->helper.what();
    lent_ &= ~(1u << what.lane);
    const auto answer = l->helper.answer();
    if (answer == rails::post::done || answer == rails::post::posted) continue;
    l->blocked = true;
    if (answer == rails::post::down) l->refused.store(true, std::memory_order_relaxed);
    const bool kept = what.number - ring.oldest() < ring.next() - ring.oldest();
    if (kept && ring.at(what.number).lane == what.lane) frames_.send_again(what.number);
  }
}

}  // namespace headway::packets
