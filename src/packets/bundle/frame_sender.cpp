#include "packets/bundle/frame_sender.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "packets/bundle/bundle_set.hpp"
#include "packets/bundle/lane.hpp"
#include "packets/cookies.hpp"
#include "packets/scheduler.hpp"

namespace headway::packets {
namespace {

/// Loads first, because a load costs less than an exchange.
bool taken(std::atomic<bool>& flag) noexcept {
  return flag.load(std::memory_order_relaxed) && flag.exchange(false, std::memory_order_relaxed);
}

}  // namespace

void frame_sender::bound_frames(std::size_t eager_bytes_max) noexcept {
  frame_bytes_max_ = std::min(frame_bytes_max_, eager_bytes_max);
}

bool frame_sender::prepare() noexcept {
  reclaim();
  parts_.take_back();
  if (taken(unblock_)) unblock_all();
  collect_dead();
  probe();
  if (taken(ask_now_)) asking_ = (1u << of_.lanes.count()) - 1;
  if (answer_lanes_.load(std::memory_order_relaxed) != 0)
    answering_ |= answer_lanes_.exchange(0, std::memory_order_relaxed);
  if ((asking_ | answering_) != 0) send_words();
  pieces_wait_ = !of_.host.send_pieces();
  return resend();
}

void frame_sender::finish(bool flowing) noexcept {
  flowing &= !resending_;
  if (taken(acknowledge_now_)) send_acknowledgement();
  // When nothing waits, no later reap would unblock the rails.
  if (flowing && !pieces_wait_) unblock_all();
  const bool wait = !flowing || pieces_wait_ || (asking_ | answering_) != 0;
  of_.host.mark_waiting(wait);
  if (wait || !ring_.empty()) of_.host.mark_active();
}

void frame_sender::drop() noexcept {
  of_.host.drop_pieces();
  of_.host.mark_waiting(false);
}

/// Drops acknowledged frames. The newest one of each rail shows how far that rail has got.
void frame_sender::reclaim() noexcept {
  const auto oldest = ring_.oldest();
  const auto count = ring_.reclaim();
  if (count == 0) return;
  const auto now_ns = of_.clock.now_ns();
  std::uint32_t seen = 0;
  for (auto n = oldest + count; n != oldest && seen + 1 != 1u << of_.lanes.count();) {
    // its memory is free; its fields stay valid until the next `reserve`
    const auto& f = ring_.at(--n);
    if (f.lane >= of_.lanes.count() || (seen >> f.lane & 1) != 0) continue;
    seen |= 1u << f.lane;
    of_.lanes[f.lane].departures.gone(now_ns, f.departure);
  }
}

void frame_sender::unblock_all() noexcept {
  for (auto& l : of_.lanes) l->blocked = false;
}

void frame_sender::unblock(std::size_t rail_index) noexcept {
  if (lane* l = of_.lanes.on_rail(rail_index)) l->blocked = false;
}

int frame_sender::idle_rail(std::uint32_t passed_over, std::size_t bytes) const noexcept {
  const auto now_ns = of_.clock.now_ns();
  int best = -1;
  double best_ns = 0;
  for (std::size_t i = 0; i < of_.lanes.count(); ++i) {
    const lane& l = of_.lanes[i];
    if (!l.takes_now() || (passed_over >> i & 1) != 0) continue;
    const double ends_ns = l.packet_ends_ns(now_ns, bytes);
    if (best >= 0 && ends_ns >= best_ns) continue;
    best = static_cast<int>(i);
    best_ns = ends_ns;
  }
  return best;
}

/// Reads only `eager` of the profiles: `piece` is guarded by F.
std::size_t frame_sender::describe(std::span<rail_state> states) const noexcept {
  const auto now_ns = of_.clock.now_ns();
  for (std::size_t i = 0; i < of_.lanes.count(); ++i) {
    const lane& l = of_.lanes[i];
    using enum rail_state::condition;
    const auto now = !l.is_up() ? down : l.takes_now() ? idle : busy;
    // A rail that is not proved yet carries nothing: its queue does not matter.
    const auto busy_ns = l.usable() ? l.departures.busy_ns(now_ns) : 0;
    states[i] = {.now = now,
                 .latency_ns = l.what.latency_ns,
                 .busy_ns = static_cast<std::uint64_t>(busy_ns),
                 .profile = &l.profile};
  }
  return of_.lanes.count();
}

// ---- frames -------------------------------------------------------------------------------------

std::size_t frame_sender::write(std::span<send_item* const> chosen, std::byte* memory) noexcept {
  const std::uint32_t credit = credits_.to_tell();
  const auto bytes = write_packets(chosen, credit, memory);
  credits_.told(credit);
  return bytes;
}

packet_sender::answer frame_sender::send(std::uint32_t on,
                                         std::span<send_item* const> chosen) noexcept {
  std::array<bool, send_list::shown_max> told_when_sent;
  HEADWAY_DEBUG_ASSERT(chosen.size() <= told_when_sent.size());
  std::size_t room = 0;
  std::uint32_t charge = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    send_item& item = *chosen[i];
    if (!credits_.fits(item.charge, charge)) item.fall_back_to_rts(item);
    charge += item.charge;
    room += room_in_frame(item);
    told_when_sent[i] = !item.answered;
  }
  // A request to send is larger than the short message that it replaces: the next attempt takes
  // fewer.
  if (chosen.size() > 1 && room > this->room().bytes_max) return answer::retry;
  std::byte* memory = ring_.reserve(room);
  if (!memory) return answer::full;
  const auto bytes = write(chosen, memory);
  const auto number = ring_.next();
  ring_.commit(memory, bytes, static_cast<std::uint16_t>(chosen.size()));
  if (const auto said = send_frame(number, on); said != answer::taken) {
    ring_.undo();
    return said;
  }
  credits_.spend(charge);
  lane& l = of_.lanes[on];
  statistics::add_alone(l.frames);
  statistics::add_alone(l.packets, chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (told_when_sent[i]) of_.queue.ended(*chosen[i], true);
  return answer::taken;
}

frame_head frame_sender::head_of(std::uint32_t number) noexcept {
  const auto& f = ring_.at(number);
  return {.acknowledged = due_.load(std::memory_order_relaxed),
          .kind = frame_kind::data,
          .packets = f.packets,
          .sequence = number,
          .bytes = f.bytes};
}

packet_sender::answer frame_sender::send_frame(std::uint32_t number, std::uint32_t on) noexcept {
  lane& l = of_.lanes[on];
  auto& f = ring_.at(number);
  const auto head = head_of(number);
  replay_ring::hold(f);
  const auto said = l.via.send(of_.to, {.header = std::as_bytes(std::span(&head, 1)),
                                        .payload = {f.memory, f.bytes},
                                        .cookie = cookie_of(f),
                                        .alone = true});
  if (said != rails::post::posted) replay_ring::let_go(f);
  if (said == rails::post::retry || said == rails::post::down) {
    l.blocked = true;
    if (said == rails::post::down) l.refused.store(true, std::memory_order_relaxed);
    return answer::retry;
  }
  f.lane = static_cast<std::uint8_t>(on);
  f.departure = l.departures.given(of_.clock.now_ns(), f.bytes);
  told_ = head.acknowledged;
  told_seen_.store(told_, std::memory_order_relaxed);
  return answer::taken;
}

void frame_sender::send_again(std::uint32_t number) noexcept {
  ring_.at(number).lane = no_lane;
  resending_ = true;
}

void frame_sender::collect_dead() noexcept {
  if (dead_lanes_.load(std::memory_order_relaxed) == 0) return;
  const auto dead = dead_lanes_.exchange(0, std::memory_order_relaxed);
  for (auto n = ring_.oldest(); n != ring_.next(); ++n) {
    const auto& f = ring_.at(n);
    if (f.lane != no_lane && (dead >> f.lane & 1) != 0) send_again(n);
  }
}

/// Resends the frames of lost rails first, because the peer cannot deliver later frames before
/// them.
bool frame_sender::resend() noexcept {
  if (!resending_) return true;
  const auto known = ring_.acknowledged_so_far();
  for (auto n = ring_.oldest(); n != ring_.next(); ++n) {
    if (ring_.at(n).lane != no_lane || static_cast<std::int32_t>(known - n) > 0) continue;
    while (true) {
      const int on = idle_rail(0, ring_.at(n).bytes);
      if (on < 0) return false;
      if (send_frame(n, static_cast<std::uint32_t>(on)) == answer::taken) break;
    }
    statistics::add(of_.set.counts.replays);
  }
  resending_ = false;
  return true;
}

// ---- frames without packets: questions and acknowledgements -------------------------------------

void frame_sender::acknowledge(bool again) noexcept {
  acknowledge_now_.store(true, std::memory_order_relaxed);
  if (again) told_stale_.store(true, std::memory_order_relaxed);
}

void frame_sender::probe() noexcept {
  if (probed() || probed_.exchange(true, std::memory_order_relaxed)) return;
  ask();
}

/// False: it did not leave.
bool frame_sender::send_word(lane& l, frame_kind kind) noexcept {
  if (!l.helper.free()) return false;
  const auto due = due_.load(std::memory_order_relaxed);
  const frame_head head{.acknowledged = due, .kind = kind};
  const auto said =
      l.via.send(of_.to, {.header = std::as_bytes(std::span(&head, 1)), .payload = {}});
  if (said == rails::post::down) l.refused.store(true, std::memory_order_relaxed);
  if (said != rails::post::done) return false;
  told_ = due;
  told_seen_.store(due, std::memory_order_relaxed);
  return true;
}

/// Questions go out on every rail: an answer on one rail shows that a silent one is dead.
void frame_sender::send_words() noexcept {
  for (std::uint32_t i = 0; i < of_.lanes.count(); ++i) {
    const auto bit = 1u << i;
    lane& l = of_.lanes[i];
    if (!l.is_up()) {
      asking_ &= ~bit;
      answering_ &= ~bit;
    }
    if ((answering_ & bit) != 0 && send_word(l, frame_kind::ack)) answering_ &= ~bit;
    if ((asking_ & bit) == 0 || !send_word(l, frame_kind::ask)) continue;
    asking_ &= ~bit;
    statistics::add(of_.set.counts.questions);
  }
}

void frame_sender::send_acknowledgement() noexcept {
  const bool again = told_stale_.exchange(false, std::memory_order_relaxed);
  // a frame of data has carried it
  if (!again && due_.load(std::memory_order_relaxed) == told_) return;
  for (auto& l : of_.lanes) {
    if (!l->usable() || !send_word(*l, frame_kind::ack)) continue;
    statistics::add(of_.set.counts.acknowledgements);
    return;
  }
}

// ---- state of the kept frames -------------------------------------------------------------------

std::uint32_t frame_sender::owing_lanes() noexcept {
  reclaim();
  std::uint32_t owing = 0;
  const auto known = ring_.acknowledged_so_far();
  for (auto n = ring_.oldest(); n != ring_.next(); ++n)
    if (static_cast<std::int32_t>(known - n) <= 0 && ring_.at(n).lane < of_.lanes.count())
      owing |= 1u << ring_.at(n).lane;
  return owing;
}

bool frame_sender::at_rest() noexcept {
  reclaim();
  return ring_.empty() && due_.load(std::memory_order_relaxed) == told_;
}

}  // namespace headway::packets
