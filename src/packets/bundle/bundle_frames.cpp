#include <algorithm>
#include <array>
#include <cstring>

#include "packets/bundle/bundle.hpp"
#include "packets/bundle/keeper.hpp"
#include "packets/peers.hpp"

// Frames leave, in section S.
namespace headway::packets {
namespace {

/// Tells a frame's cookie from an outgoing item's, which is aligned; see rail.cpp.
constexpr std::uint64_t frame_bit = 1;

}  // namespace

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
  statistics::add_alone(lanes_[on]->frames);
  statistics::add_alone(lanes_[on]->packets, chosen.size());
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

}  // namespace headway::packets
