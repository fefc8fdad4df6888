#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/backoff.hpp"
#include "base/log.hpp"
#include "packets/bundle/bundle.hpp"
#include "packets/bundle/keeper.hpp"
#include "packets/peers.hpp"

// What a bundle does in section R: one reaper at a time, whichever rail it reaps.
namespace headway::packets {
namespace {

constexpr std::size_t frames_owed_max = 64;
constexpr std::uint64_t revive_pause_ns = 200'000'000;
/// For the first answer of a rail: a lost first packet of a TCP connection is sent again after 1 s.
constexpr std::uint64_t ask_again_ns = 100'000'000;
constexpr std::uint64_t proof_patience_ns = 1'500'000'000;
/// A rail whose loss is still to be reported looks for a moment as if the peer had closed it.
constexpr std::uint64_t left_ns = 1'000'000'000;

}  // namespace

bundle::bundle(peers& all, peer& to, bundle_keeper& keeper, std::size_t ring_bytes)
    : all_(all), to_(to), keeper_(keeper), ring_(ring_bytes), ring_bytes_(ring_bytes) {}

bundle::~bundle() = default;

void bundle::add_lane(rails::driver& via, std::size_t rail_index) {
  auto made = std::make_unique<lane>(via, rail_index, keeper_.health, &bundle::help);
  made->profile = sampling::profile::guessed(made->what.latency_ns, 1);
  frame_bytes_max_ = std::min(frame_bytes_max_, made->what.eager_bytes_max);
  eager_bytes_max_ = frame_bytes_max_ - outgoing::head_bytes_max - 2 * sizeof(packet_mark);
  lanes_.push_back(std::move(made));
  // One alone is taken as it is: there is no other to go by.
  for (auto& l : lanes_) l->proved.store(lanes_.size() == 1, std::memory_order_relaxed);
}

lane* bundle::lane_on(std::size_t rail_index) noexcept {
  for (auto& l : lanes_)
    if (l->rail_index == rail_index) return l.get();
  return nullptr;
}

std::uint32_t bundle::lane_number(const lane& l) const noexcept {
  std::uint32_t i = 0;
  while (lanes_[i].get() != &l) ++i;
  return i;
}

void bundle::arrived(lane& on, std::span<const std::byte> bytes, std::uint64_t now_ns) noexcept {
  on.heard_ns = now_ns;
  frame_head head;
  if (bytes.size() < sizeof head) return broken("a frame shorter than its head");
  std::memcpy(&head, bytes.data(), sizeof head);
  if (!ring_.acknowledged(head.acknowledged)) return broken("an acknowledgement of nothing sent");
  const auto contents = bytes.subspan(sizeof head);
  probe();
  // A question says that we hear the peer; an answer, or data, that it has heard us.
  if (head.kind != frame_kind::ask && !on.proved.load(std::memory_order_relaxed)) [[unlikely]]
    prove(on, now_ns);
  switch (head.kind) {
    case frame_kind::ack:
      on.answered_ns = now_ns;
      return;
    case frame_kind::ask:
      answer_lanes_.fetch_or(1u << lane_number(on), std::memory_order_relaxed);
      return try_pump();
    case frame_kind::data:
      break;
    default:
      return broken("a frame of no known kind");
  }
  if (head.bytes != contents.size()) return broken("a frame of another size than it says");
  take_data(head, contents, now_ns);
}

void bundle::take_data(const frame_head& head, std::span<const std::byte> contents,
                       std::uint64_t now_ns) noexcept {
  using enum reorder_window::answer;
  mark_active();
  switch (window_.arrived(head.sequence, head.packets, contents)) {
    case early:
      return statistics::add(keeper_.counts.early);
    case duplicate:
      // The peer has not heard that we have it.
      statistics::add(keeper_.counts.duplicates);
      acknowledge_now_.store(true, std::memory_order_relaxed);
      told_stale_.store(true, std::memory_order_relaxed);
      return try_pump();
    case nonsense:
      return broken("a frame that is not due for long");
    case now:
      break;
  }
  take_frame(contents, head.packets, now_ns);
  window_.taken();
  while (const auto* kept = window_.next()) {
    take_frame(kept->bytes, kept->packets, now_ns);
    window_.taken();
  }
  const auto due = window_.due();
  due_.store(due, std::memory_order_relaxed);
  owed_bytes_ += contents.size();
  const auto owed = due - told_seen_.load(std::memory_order_relaxed);
  if (owed == 0) owed_bytes_ = 0;
  if (owed < frames_owed_max && owed_bytes_ < ring_bytes_ / 4) return;
  owed_bytes_ = 0;
  acknowledge_now_.store(true, std::memory_order_relaxed);
  try_pump();
}

void bundle::take_frame(std::span<const std::byte> contents, std::size_t packets,
                        std::uint64_t now_ns) noexcept {
  if (packets == 0 || !parts_.empty()) [[unlikely]]
    return take_part(contents, packets, now_ns);
  take_packets(contents, packets, now_ns);
}

void bundle::take_packets(std::span<const std::byte> contents, std::size_t packets,
                          std::uint64_t now_ns) noexcept {
  const bool sound = each_packet(contents, packets, [&](std::span<const std::byte> packet) {
    if (static_cast<std::uint8_t>(packet[offsetof(stream_head, kind)]) >= control_kinds) {
      take_control(packet, now_ns);
    } else {
      all_.deliver(to_, packet);
    }
  });
  if (!sound) broken("a frame whose packets make no sense");
}

void bundle::take_control(std::span<const std::byte> packet, std::uint64_t now_ns) noexcept {
  control c;
  if (packet.size() != sizeof c) return broken("a control packet of a wrong size");
  std::memcpy(&c, packet.data(), sizeof c);
  to_.returned_.store(c.credit, std::memory_order_relaxed);
  if (c.lane >= lanes_.size()) return broken("a rail that does not exist");
  switch (c.kind) {
    case control_kind::pull:
      return pulled_by_peer(c);
    case control_kind::pull_over:
      return pull_over(c);
    case control_kind::refuse:
      return refused(c, now_ns);
    case control_kind::lane_down:
      return kill(*lanes_[c.lane], false, "given up by the peer", now_ns);
  }
  broken("a control packet of no known kind");
}

void bundle::broken(const char* what) noexcept {
  base::log(base::severity::error, "rank {} sent {}", static_cast<std::uint32_t>(to_.id()), what);
  all_.lose(to_);
}

// ---- rails come and go --------------------------------------------------------------------------

/// Before the first data in either direction: which rails does the peer answer on?
void bundle::probe() noexcept {
  if (probed_.load(std::memory_order_relaxed) ||  // a hint: the second of two does nothing
      probed_.exchange(true, std::memory_order_relaxed))
    return;
  if (lanes_.size() > 1) ask_now_.store(true, std::memory_order_relaxed);  // the caller pumps
}

void bundle::prove(lane& l, std::uint64_t now_ns) noexcept {
  l.proved.store(true, std::memory_order_relaxed);
  statistics::add(keeper_.counts.rail_proofs);
  unblock_.store(true, std::memory_order_relaxed);
  {
    const std::lock_guard guard(flows_lock_);
    starving_ = true;
  }
  feed_starving(now_ns);
  try_pump();
}

/// What has not answered for long while another rail did is lost before it has carried anything.
void bundle::leave_out_unproved(std::uint64_t now_ns) noexcept {
  const auto proved = [](const auto& l) {
    return l->up.load(std::memory_order_relaxed) && l->proved.load(std::memory_order_relaxed);
  };
  if (!probed_.load(std::memory_order_relaxed)) return;
  for (auto& l : lanes_) {
    if (!l->up.load(std::memory_order_relaxed) || l->proved.load(std::memory_order_relaxed))
      continue;
    if (l->unproved_since_ns == 0) l->unproved_since_ns = asked_again_ns_ = now_ns;
    if (now_ns - asked_again_ns_ >= ask_again_ns) {
      asked_again_ns_ = now_ns;
      ask_now_.store(true, std::memory_order_relaxed);  // the caller pumps
    }
    if (now_ns - l->unproved_since_ns < proof_patience_ns) continue;
    if (std::ranges::any_of(lanes_, proved))
      kill(*l, true, "no answer on it while another rail has answered", now_ns);
  }
}

/// Nothing is sent over it or taken from it until it is back.
void bundle::kill(lane& l, bool tell, const char* why, std::uint64_t now_ns) noexcept {
  if (!l.up.load(std::memory_order_relaxed) || to_.lost()) return;
  l.up.store(false, std::memory_order_relaxed);
  l.health.forget();
  statistics::add(keeper_.counts.rail_losses);
  statistics::add_alone(l.losses);
  const bool news = !keeper_.finishing.load(std::memory_order_relaxed);
  base::log(news ? base::severity::warning : base::severity::debug, "rail {} to rank {} is {}: {}",
            l.what.name, static_cast<std::uint32_t>(to_.id()),
            l.proved.load(std::memory_order_relaxed) ? "lost" : "left out", why);
  if (!l.closed) l.via.sever(to_.id());
  const auto is_up = [](const auto& other) { return other->up.load(std::memory_order_relaxed); };
  if (std::ranges::none_of(lanes_, is_up)) cut_off_ns_ = now_ns;
  mark_active();
  const auto number = lane_number(l);
  dead_lanes_.fetch_or(1u << number, std::memory_order_relaxed);  // seen by the pump below, at the
  retake(l, now_ns);                                              // latest by the next
  if (tell)
    send_control({.kind = control_kind::lane_down, .lane = static_cast<std::uint8_t>(number)});
  try_pump();
}

void bundle::lane_lost(lane& which, bool process_gone, std::uint64_t now_ns) noexcept {
  if (to_.lost()) return;
  which.closed = true;
  const auto lives = [&](const auto& other) {
    return other.get() != &which && other->up.load(std::memory_order_relaxed);
  };
  // A wall on one way may refuse us in its name; a process that is gone has lost all its rails.
  if (process_gone && std::ranges::none_of(lanes_, lives)) {
    kill(which, false, "its process is gone", now_ns);
    return all_.lose(to_);
  }
  kill(which, false, "the connection ended", now_ns);
  which.revive_at_ns = now_ns;
}

void bundle::lane_restored(lane& which, std::uint64_t now_ns) noexcept {
  if (to_.lost()) return;
  // The peer has made a new connection before we knew of the old one's end.
  kill(which, false, "replaced by the peer", now_ns);
  which.closed = false;
  which.heard_ns = now_ns;
  which.refused.store(false, std::memory_order_relaxed);
  which.proved.store(true, std::memory_order_relaxed);  // both ends have just met there
  which.up.store(true, std::memory_order_relaxed);
  cut_off_ns_ = 0;
  statistics::add(keeper_.counts.rail_returns);
  statistics::add_alone(which.returns);
  base::log(base::severity::warning, "rail {} to rank {} is back", which.what.name,
            static_cast<std::uint32_t>(to_.id()));
  {
    const std::lock_guard guard(flows_lock_);
    which.clock = {};
    which.measured = false;
    starving_ = true;
  }
  unblock_.store(true, std::memory_order_relaxed);
  feed_starving(now_ns);
  try_pump();
}

void bundle::look(std::uint64_t now_ns) noexcept {
  if (failed_) return rest_if_done();
  look_at_lanes(now_ns);
  if (due_.load(std::memory_order_relaxed) != told_seen_.load(std::memory_order_relaxed)) {
    owed_bytes_ = 0;
    acknowledge_now_.store(true, std::memory_order_relaxed);
  }
  feed_starving(now_ns);
  try_pump();
  give_up_if_cut_off(now_ns);
  rest_if_done();
}

std::uint64_t bundle::heard_ns(lane& l) noexcept {
  return std::max(l.heard_ns, l.via.heard_ns(to_.id()));
}

void bundle::look_at_lanes(std::uint64_t now_ns) noexcept {
  for (auto& l : lanes_) {
    if (l->closed && now_ns >= l->revive_at_ns) {
      l->revive_at_ns = now_ns + revive_pause_ns;
      l->via.revive(to_.id());
    }
    if (l->up.load(std::memory_order_relaxed) && l->refused.load(std::memory_order_relaxed))
      kill(*l, false, "its driver has given it up", now_ns);
  }
  leave_out_unproved(now_ns);
  const auto owing = lanes_that_owe();
  bool ask = false;
  for (auto& l : lanes_) {
    if (!l->up.load(std::memory_order_relaxed)) continue;
    const bool owed = owing >> lane_number(*l) & 1;
    std::uint64_t elsewhere_ns = 0;
    if (owed)
      for (auto& other : lanes_)
        if (other != l && other->up.load(std::memory_order_relaxed))
          elsewhere_ns = std::max(elsewhere_ns, other->answered_ns);
    switch (l->health.look(now_ns, owed, owed ? heard_ns(*l) : 0, elsewhere_ns)) {
      case lane_health::verdict::well:
        break;
      case lane_health::verdict::ask:
        ask = true;
        break;
      case lane_health::verdict::dead:
        kill(*l, true, "silent while another rail answers", now_ns);
        break;
    }
  }
  if (ask) ask_now_.store(true, std::memory_order_relaxed);  // the caller pumps
}

/// Bits of the rails over which something is to come: data, or the peer's word that it has ours.
std::uint32_t bundle::lanes_that_owe() noexcept {
  std::uint32_t owing = 0;
  if (mask_.try_hold()) {
    ring_.reclaim();
    const auto known = ring_.acknowledged_so_far();
    for (auto n = ring_.oldest(); n != ring_.next(); ++n)
      if (static_cast<std::int32_t>(known - n) <= 0 && ring_.at(n).lane < lanes_.size())
        owing |= 1u << ring_.at(n).lane;
    mask_.let_go();
    flush();
    owing_frames_ = owing;
  }
  owing |= owing_frames_;  // somebody sends: as it was at the last look
  const std::lock_guard guard(flows_lock_);
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i]->pieces_out.load(std::memory_order_relaxed) != 0) owing |= 1u << i;
    for (const auto& in : inflows_)
      if (std::ranges::any_of(in->ways[i], [](const auto& piece) { return piece.zone != 0; }))
        owing |= 1u << i;
  }
  return owing;
}

/// A rail that takes nothing more, and yet was not lost, is one that the peer has closed.
bool bundle::left_by_peer() const noexcept {
  return std::ranges::all_of(lanes_, [](const auto& l) {
    return !l->up.load(std::memory_order_relaxed) && !l->closed &&
           l->refused.load(std::memory_order_relaxed);
  });
}

void bundle::give_up_if_cut_off(std::uint64_t now_ns) noexcept {
  if (cut_off_ns_ == 0) return;
  const auto since_ns = now_ns - cut_off_ns_;
  const bool left =
      since_ns >= left_ns && left_by_peer() && !keeper_.finishing.load(std::memory_order_relaxed);
  if (!left && since_ns < keeper_.cut_off_ns) return;
  if (!left)
    base::log(base::severity::warning, "no rail to rank {} has come back",
              static_cast<std::uint32_t>(to_.id()));
  all_.lose(to_);
}

void bundle::rest_if_done() noexcept {
  if (!active() || cut_off_ns_ != 0 || !mask_.try_hold()) return;
  ring_.reclaim();
  {
    const std::lock_guard guard(flows_lock_);
    const bool done =
        failed_ ||
        (ring_.empty() && !first_ && inflows_.empty() && outflows_.empty() &&
         due_.load(std::memory_order_relaxed) == told_ && !mask_.any_submitted() && !waiting() &&
         std::ranges::all_of(lanes_, [](const auto& l) { return !l->first_piece; }));
    // Nobody marks it active meanwhile: who does is in S, R or F, and we are in all three.
    if (done && active_.exchange(false, std::memory_order_relaxed)) keeper_.bundle_active(false);
  }
  mask_.let_go();
  flush();
}

void bundle::fail_all() noexcept {
  if (std::exchange(failed_, true)) return;
  for (base::backoff its_holder; !mask_.try_hold();) its_holder.wait();
  adopt_submitted();
  drop_waiting();
  mask_.let_go();
  flush();
  for (auto& l : lanes_) l->via.sever(to_.id());
  cut_off_ns_ = 0;
  fail_flows();
}

}  // namespace headway::packets
