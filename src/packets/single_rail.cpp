#include "packets/single_rail.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/assert.hpp"
#include "base/optimizer_barrier.hpp"
#include "packets/cookies.hpp"
#include "packets/frames.hpp"
#include "packets/scheduler.hpp"

namespace headway::packets {
namespace {

/// Written as one word, because the rail copies it as one: see `copy_header` of rails/shm.
void put_credit(std::byte* head, std::uint32_t credit) noexcept {
  static_assert(sizeof(stream_head) == sizeof(std::uint64_t));
  std::uint64_t word = 0;
  std::memcpy(&word, head, sizeof word);
  if constexpr (std::endian::native == std::endian::little) {
    word = (word & ~std::uint64_t{UINT32_MAX}) | credit;
  } else {
    word = (word & UINT32_MAX) | std::uint64_t{credit} << 32;
  }
  base::optimizer_barrier(word);  // otherwise the compiler may write only the changed half
  std::memcpy(head, &word, sizeof word);
}

}  // namespace

void single_rail::open(const way& over) noexcept {
  HEADWAY_ASSERT(!is_open() && over.via);
  const auto can = over.via->packet_limits_to(to_);
  way_ = over;
  eager_bytes_max_ = can.eager_bytes_max;
  const auto at_once_max = std::min(can.inline_bytes_max, can.eager_bytes_max);
  if (over.collects && at_once_max != 0) collected_.open(at_once_max);
  frame_room_ = std::min({frame_bytes_max, can.inline_bytes_max, can.eager_bytes_max});
}

void single_rail::carry_large_over(const way& over) noexcept {
  HEADWAY_ASSERT(is_open() && over.via && over.via->memory());
  other_way_ = over;
  large_way_.store(&other_way_, std::memory_order_release);  // (L)
}

/// Only for rails that also serve peers with several rails.
[[gnu::always_inline]] inline void single_rail::note_departure(const way& over,
                                                               std::size_t bytes) const noexcept {
  if (!over.departures || !over.departures->counts()) return;
  const auto now_ns = clock_.now_ns();
  const auto mark = over.departures->given(now_ns, bytes);
  over.departures->gone(now_ns, mark, rail_departures::kernel_bytes);
}

bool single_rail::has_room_for(const send_item& item) const noexcept {
  const auto bytes = item.payload.size();
  return credits_.fits(item.charge) &&
         (bytes <= eager_bytes_max_ || way_.via->takes_whole(to_, bytes));
}

single_rail::taken single_rail::transmit(send_item& item) noexcept {
  if (item.charge != 0 && !has_room_for(item)) item.fall_back_to_rts(item);
  const std::uint32_t charge = item.charge;
  const bool answered = item.answered;
  const bool telling = item.head_bytes != 0;
  const std::uint32_t credit = credits_.to_tell();
  if (telling) put_credit(item.head.data(), credit);
  const auto* payload = item.payload.data();
  // Otherwise pointer and size are read as one wide word, which has to wait for both stores.
  base::optimizer_barrier(payload);
  const auto bytes = packet_bytes(item);
  const auto cookie = cookie_of(item);
  const way& over = telling ? way_ : *large_way_.load(std::memory_order_acquire);  // (L)
  const auto put = [&] {
    auto& memory = *over.via->memory();
    const std::span<const std::byte> all(payload, item.payload.size());
    return item.lent && &over == &way_ ? memory.put_lent(to_, {.exposed = item.target}, all, cookie)
                                       : memory.put(to_, {.exposed = item.target}, all, cookie);
  };
  const auto said = telling ? over.via->send(to_, {.header = {item.head.data(), item.head_bytes},
                                                   .payload = {payload, item.payload.size()},
                                                   .cookie = cookie,
                                                   .in_parts = item.in_parts,
                                                   .can_wait = item.can_wait && credits_.ample(),
                                                   .lent = item.lent})
                            : put();
  // Unless it is `done` and not `answered`, `item` may be gone: another thread may have reaped its
  // event or the answer.
  if (said == rails::post::retry) return taken::not_yet;
  if (said == rails::post::down) return taken::never;
  note_departure(over, bytes);
  credits_.spend(charge);
  if (said == rails::post::posted) engine_.pending_started();  // ended with its event
  else if (over.unsent) over.unsent->look();
  if (telling) credits_.told(credit);
  return said == rails::post::posted || answered ? taken::in_part : taken::whole;
}

bool single_rail::transmit_now(const prompt_packet& what) noexcept {
  HEADWAY_DEBUG_ASSERT(what.head.size() >= sizeof(stream_head));
  HEADWAY_DEBUG_ASSERT(what.payload.size() <= way_.via->packet_limits_to(to_).inline_bytes_max);
  if (!credits_.fits(what.charge)) return false;
  const std::uint32_t credit = credits_.to_tell();
  put_credit(what.head.data(), credit);
  const auto said = way_.via->send(to_, {.header = what.head,
                                         .payload = what.payload,
                                         .can_wait = what.can_wait && credits_.ample()});
  HEADWAY_DEBUG_ASSERT(said != rails::post::posted);
  if (said != rails::post::done) return false;
  note_departure(way_, what.head.size() + what.payload.size());
  credits_.spend(what.charge);
  if (way_.unsent) way_.unsent->look();
  credits_.told(credit);
  return true;
}

bool single_rail::prepare() noexcept {
  takes_ = false;
  return send_collected() != answer::retry;
}

// ---- what follows closely -----------------------------------------------------------------------

single_rail::taken single_rail::take(send_item& item, const strategy& how) noexcept {
  const bool may =
      how.collects() && collected_.may_hold(item) && (way_.unwatched || engine_.watched());
  auto said = taken::not_yet;
  if (may && collected_.in_a_run()) {
    said = collect(item);
  } else if (send_collected() != answer::retry) {
    said = transmit(item);
  }
  collected_.went();
  return said;
}

single_rail::taken single_rail::collect(send_item& item) noexcept {
  if (item.charge != 0 && !credits_.fits(item.charge)) item.fall_back_to_rts(item);
  if (!collected_.fits(item)) {
    const auto said = send_collected();
    if (said == answer::retry) return taken::not_yet;
    if (said == answer::down) return taken::never;
  }
  const auto credit = credits_.to_tell();
  to_be_told_ |= collected_.empty();
  credits_.spend(item.charge);
  collected_.add(item, credit);
  credits_.told(credit);
  return item.answered ? taken::in_part : taken::whole;
}

/// Also `taken` if nothing was collected. What was collected for a lost peer is lost with it.
packet_sender::answer single_rail::send_collected() noexcept {
  if (collected_.empty()) return answer::taken;
  const auto said = send_frame(collected_.head(), collected_.bytes());
  if (said != answer::retry) collected_.clear();
  return said;
}

void single_rail::tell_of_collected() noexcept {
  // Acquire: pairs with the release in `run`.
  if (!sending_.queued.exchange(true, std::memory_order_acquire)) engine_.submit(sending_);
}

progress::ltask_result single_rail::sending::run(progress::ltask& self) noexcept {
  auto& of = static_cast<sending&>(self).of;
  // Release: the next thread that submits it sees that this use is over. What was collected before
  // that is sent below.
  static_cast<sending&>(self).queued.store(false, std::memory_order_release);
  of.pump();
  return progress::ltask_result::done;
}

// ---- what has waited ----------------------------------------------------------------------------

std::size_t single_rail::describe(std::span<rail_state> states) const noexcept {
  states[0] = {.now = rail_state::condition::idle, .latency_ns = way_.via->query().latency_ns};
  return 1;
}

/// Zero unless the rail has just taken something: otherwise a frame would be built in vain at each
/// attempt.
packet_sender::limits single_rail::room() const noexcept {
  if (!takes_ || frame_room_ == 0) return {};
  return {.wanted = {.packets_max = send_list::shown_max, .bytes_max = frame_room_ / 2},
          .bytes_max = frame_room_};
}

packet_sender::answer single_rail::send(std::uint32_t,
                                        std::span<send_item* const> chosen) noexcept {
  const auto said = chosen.size() == 1 ? send_one(*chosen.front()) : send_together(chosen);
  takes_ = said == answer::taken;
  return said;
}

packet_sender::answer single_rail::send_one(send_item& item) noexcept {
  switch (transmit(item)) {
    case taken::whole:
      of_.ended(item, true);
      return answer::taken;
    case taken::in_part:
      return answer::taken;
    case taken::not_yet:
      return answer::retry;
    case taken::never:
      break;
  }
  return answer::down;
}

packet_sender::answer single_rail::send_together(std::span<send_item* const> chosen) noexcept {
  alignas(8) std::array<std::byte, frame_bytes_max> memory;
  std::array<bool, send_list::shown_max> answered;
  std::uint32_t charge = 0;
  std::size_t room_needed = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    send_item& item = *chosen[i];
    if (item.charge != 0 && !credits_.fits(item.charge, charge)) item.fall_back_to_rts(item);
    charge += item.charge;
    room_needed += room_in_frame(item);
    answered[i] = item.answered;
  }
  // A request to send is larger than the short message that it replaces: the next attempt takes
  // fewer.
  if (room_needed > frame_room_) return answer::retry;
  const auto credit = credits_.to_tell();
  const auto bytes = write_packets(chosen, credit, memory.data());
  const frame_head head{.kind = frame_kind::together,
                        .packets = static_cast<std::uint16_t>(chosen.size()),
                        .bytes = static_cast<std::uint32_t>(bytes)};
  const auto said = send_frame(head, std::span(memory).first(bytes));
  if (said != answer::taken) return said;
  credits_.spend(charge);
  credits_.told(credit);
  // Items that the peer answers may be gone.
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (!answered[i]) of_.ended(*chosen[i], true);
  return answer::taken;
}

packet_sender::answer single_rail::send_frame(const frame_head& head,
                                              std::span<const std::byte> bytes) noexcept {
  const auto said =
      way_.via->send(to_, {.header = std::as_bytes(std::span(&head, 1)), .payload = bytes});
  HEADWAY_DEBUG_ASSERT(said != rails::post::posted);
  if (said == rails::post::retry) return answer::retry;
  if (said == rails::post::down) return answer::down;
  if (way_.unsent) way_.unsent->look();
  note_departure(way_, sizeof head + bytes.size());
  return answer::taken;
}

void single_rail::finish(bool flowing) noexcept {
  if (!flowing) of_.stall();
}

}  // namespace headway::packets
