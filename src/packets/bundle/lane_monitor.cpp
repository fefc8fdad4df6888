#include "packets/bundle/lane_monitor.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "packets/bundle/bundle_set.hpp"
#include "packets/bundle/frame_sender.hpp"
#include "packets/bundle/lane.hpp"
#include "packets/events.hpp"
#include "packets/scheduler.hpp"
#include "packets/transfer/incoming_flows.hpp"
#include "packets/transfer/outgoing_flows.hpp"

namespace headway::packets {
namespace {

constexpr std::uint64_t revive_pause_ns = 200'000'000;
/// Limits for the first answer of a rail. The kernel resends a lost first packet of a TCP
/// connection after 1 s.
constexpr std::uint64_t ask_again_ns = 100'000'000;
constexpr std::uint64_t proof_patience_ns = 1'500'000'000;
/// Until the loss of a rail is reported, the rail looks as if the peer had closed it: wait for so
/// long before concluding that.
constexpr std::uint64_t left_ns = 1'000'000'000;
constexpr std::uint64_t ns_per_s = 1'000'000'000;

bool is_up(const std::unique_ptr<lane>& l) noexcept { return l->is_up(); }

}  // namespace

void lane_monitor::look(std::uint64_t now_ns) noexcept {
  revive_closed(now_ns);
  leave_out_unproved(now_ns);
  look_at_silent(now_ns);
}

void lane_monitor::revive_closed(std::uint64_t now_ns) noexcept {
  for (auto& l : of_.lanes) {
    if (l->closed && now_ns >= l->revive_at_ns) {
      l->revive_at_ns = now_ns + revive_pause_ns;
      l->via.health()->revive(of_.to);
    }
    if (l->is_up() && l->refused.load(std::memory_order_relaxed))
      kill(*l, false, "its driver has given it up", now_ns);
  }
}

/// A rail that has not answered for long while another one did is given up before it carries
/// anything.
void lane_monitor::leave_out_unproved(std::uint64_t now_ns) noexcept {
  if (!sender_.probed()) return;
  for (auto& l : of_.lanes) {
    if (!l->is_up() || l->proved.load(std::memory_order_relaxed)) continue;
    if (l->unproved_since_ns == 0) l->unproved_since_ns = asked_again_ns_ = now_ns;
    if (now_ns - asked_again_ns_ >= ask_again_ns) {
      asked_again_ns_ = now_ns;
      sender_.ask();  // the caller pumps
    }
    if (now_ns - l->unproved_since_ns < proof_patience_ns) continue;
    if (std::ranges::any_of(of_.lanes, [](const auto& other) { return other->usable(); }))
      kill(*l, true, "no answer on it while another rail has answered", now_ns);
  }
}

void lane_monitor::look_at_silent(std::uint64_t now_ns) noexcept {
  const auto owing = owing_lanes();
  bool ask = false;
  for (auto& l : of_.lanes) {
    if (!l->is_up()) continue;
    const bool owed = (owing >> of_.lanes.number_of(*l) & 1) != 0;
    const auto activity_ns = owed ? last_activity_ns(*l) : 0;
    const auto elsewhere_ns = owed ? answered_elsewhere_ns(*l) : 0;
    switch (l->health.look(now_ns, owed, activity_ns, elsewhere_ns)) {
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
  if (ask) sender_.ask();  // the caller pumps
}

std::uint64_t lane_monitor::last_activity_ns(lane& l) const noexcept {
  return std::max(l.activity_ns, l.via.health()->last_activity_ns(of_.to));
}

std::uint64_t lane_monitor::answered_elsewhere_ns(const lane& l) const noexcept {
  std::uint64_t latest_ns = 0;
  for (const auto& other : of_.lanes)
    if (other.get() != &l && other->is_up()) latest_ns = std::max(latest_ns, other->answered_ns);
  return latest_ns;
}

/// Bits of the rails over which something must come: data, or acknowledgements of our frames.
std::uint32_t lane_monitor::owing_lanes() noexcept {
  // While another thread is in S: the result of the last look.
  of_.queue.within([&] { owing_frames_ = sender_.owing_lanes(); });
  auto owing = owing_frames_ | incoming_.owing_lanes();
  for (std::uint32_t i = 0; i < of_.lanes.count(); ++i)
    if (of_.lanes[i].pieces_out.load(std::memory_order_relaxed) != 0) owing |= 1u << i;
  return owing;
}

void lane_monitor::prove(lane& l, std::uint64_t now_ns) noexcept {
  l.proved.store(true, std::memory_order_relaxed);
  statistics::add(of_.set.counts.rail_proofs);
  sender_.unblock();
  incoming_.renewed(l, false);
  incoming_.feed_starving(now_ns);
  of_.host.pump();
}

// ---- rails come and go --------------------------------------------------------------------------

void lane_monitor::kill(lane& l, bool tell, const char* why, std::uint64_t now_ns) noexcept {
  if (!l.is_up() || of_.queue.lost()) return;
  l.up.store(false, std::memory_order_relaxed);
  l.health.forget();
  statistics::add(of_.set.counts.rail_losses);
  statistics::add_alone(l.losses);
  const bool news = !of_.set.finishing.load(std::memory_order_relaxed);
  base::log(news ? base::severity::warning : base::severity::debug, "rail {} to peer {} is {}: {}",
            l.what.name, static_cast<std::uint32_t>(of_.to),
            l.proved.load(std::memory_order_relaxed) ? "lost" : "left out", why);
  if (news) events::rail_lost.raise({static_cast<std::uint64_t>(of_.to), l.rail_index});
  if (!l.closed) l.via.health()->sever(of_.to);
  if (std::ranges::none_of(of_.lanes, is_up)) {
    cut_off_ns_ = now_ns;
    cut_off_said_ = {};
  }
  of_.host.mark_active();
  const auto number = of_.lanes.number_of(l);
  sender_.lane_died(number);  // read by the pump below, or by the next one
  incoming_.retake(l, now_ns);
  tell_peer(number, tell);
  of_.host.pump();
}

/// `give_up`: the peer shall stop using the rail, too. Otherwise the peer may already have a new
/// connection; it must request again the parts of large messages that went into the old one.
void lane_monitor::tell_peer(std::uint32_t number, bool give_up) noexcept {
  bool sends = true;
  outgoing_.if_none([&] { sends = false; });
  if (give_up || sends)
    of_.host.send_control({.what = give_up ? control_kind::lane_down : control_kind::lane_lost,
                           .lane = static_cast<std::uint8_t>(number)});
}

void lane_monitor::lost(lane& l, bool process_gone, std::uint64_t now_ns) noexcept {
  if (of_.queue.lost()) return;
  l.closed = true;
  const auto lives = [&](const auto& other) { return other.get() != &l && other->is_up(); };
  // A refused connection alone does not prove that the process is gone: a firewall may refuse it. A
  // process that is gone has lost all its rails.
  if (process_gone && std::ranges::none_of(of_.lanes, lives)) {
    kill(l, false, "its process is gone", now_ns);
    return of_.host.lose();
  }
  kill(l, false, "the connection ended", now_ns);
  l.revive_at_ns = now_ns;
}

void lane_monitor::restored(lane& l, std::uint64_t now_ns) noexcept {
  if (of_.queue.lost()) return;
  // The peer has made a new connection before the end of the old one was noticed here.
  kill(l, false, "replaced by the peer", now_ns);
  l.closed = false;
  l.activity_ns = now_ns;
  l.refused.store(false, std::memory_order_relaxed);
  l.proved.store(true, std::memory_order_relaxed);  // the new handshake went both ways
  l.up.store(true, std::memory_order_relaxed);
  cut_off_ns_ = 0;
  statistics::add(of_.set.counts.rail_returns);
  statistics::add_alone(l.returns);
  base::log(base::severity::warning, "rail {} to peer {} is back", l.what.name,
            static_cast<std::uint32_t>(of_.to));
  events::rail_returned.raise({static_cast<std::uint64_t>(of_.to), l.rail_index});
  incoming_.renewed(l, true);
  sender_.unblock();
  incoming_.feed_starving(now_ns);
  of_.host.pump();
}

/// All rails take nothing more, without a reported loss: the peer has closed them.
bool lane_monitor::left_by_peer() const noexcept {
  return std::ranges::all_of(of_.lanes, [](const auto& l) {
    return !l->is_up() && !l->closed && l->refused.load(std::memory_order_relaxed);
  });
}

void lane_monitor::give_up_if_cut_off(std::uint64_t now_ns) noexcept {
  // `now_ns` was read at the beginning of this round, and the last rail may have been lost since.
  if (!cut_off() || now_ns < cut_off_ns_) return;
  const auto since_ns = now_ns - cut_off_ns_;
  const bool left =
      since_ns >= left_ns && left_by_peer() && !of_.set.finishing.load(std::memory_order_relaxed);
  if (!left && since_ns < of_.set.cut_off_ns) {
    if (cut_off_said_.due(since_ns))
      base::log(base::severity::warning,
                "no rail to peer {} for {} s: it is given up after {} s (HEADWAY_CUT_OFF_MS)",
                static_cast<std::uint32_t>(of_.to), since_ns / ns_per_s,
                of_.set.cut_off_ns / ns_per_s);
    return;
  }
  if (!left)
    base::log(base::severity::warning, "no rail to peer {} has come back",
              static_cast<std::uint32_t>(of_.to));
  of_.host.lose();
}

void lane_monitor::end() noexcept {
  for (auto& l : of_.lanes) l->via.health()->sever(of_.to);
  cut_off_ns_ = 0;
}

}  // namespace headway::packets
