#include "packets/transfer/incoming_flows.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "packets/bundle/bundle_set.hpp"
#include "packets/bundle/lane.hpp"
#include "packets/scheduler.hpp"

namespace headway::packets {
namespace {

/// A piece is a part of what its rail is still to carry, so that there are few while much is left
/// and a thread that gets its processor late leaves no rail dry; within these times, because two of
/// them on a rail are what cannot be taken back when the rail turns slow.
constexpr std::uint64_t share_parts = 4;
constexpr double piece_ns_min = 4'000'000;
constexpr double piece_ns_max = 32'000'000;
constexpr std::uint64_t piece_bytes_min = 64 * 1024;
constexpr std::uint64_t piece_bytes_max = 8 << 20;
constexpr std::uint64_t piece_bytes_unmeasured = 128 * 1024;
/// The first lessons of a job count more: what earlier jobs knew may be of other cables.
constexpr std::uint32_t first_lessons = 16;
constexpr double first_weight = 0.5;
constexpr double learning_weight = 0.25;

bool busy(const inflow::way& w) noexcept {
  return std::ranges::any_of(w, [](const auto& piece) { return piece.under_way; });
}

}  // namespace

incoming_flows::~incoming_flows() HEADWAY_NO_THREAD_SAFETY_ANALYSIS {  // alone
  for (auto* list : {&inflows_, &spare_})
    while (inflow* in = list->pop_front()) delete in;
}

inflow& incoming_flows::take_spare() {
  {
    const base::lock_guard guard(lock_);
    if (inflow* in = spare_.pop_front()) return *in;
  }
  return *new inflow(*this, of_.lanes.count(), of_.set.large);
}

void incoming_flows::fetch(transfer& whole) noexcept {
  inflow& in = take_spare();
  orders out;
  bool lost = false;
  {
    const base::lock_guard guard(lock_);
    lost = of_.queue.lost();  // after this, `fail` finds it in the list
    if (lost) {
      spare_.push_back(in);
    } else {
      of_.host.mark_active();
      inflows_.push_back(in);
      in.whole = &whole;
      in.bytes_left = whole.memory.size();
      in.hungry = false;
      in.open.assign(1, {.offset = 0, .bytes = whole.memory.size()});
      feed(in, base::now_ns(), out);
    }
  }
  if (lost) return rendezvous::end(whole, false);
  send(out);
}

// ---- asking -------------------------------------------------------------------------------------

/// How much to ask for at a time of a rail's share.
std::uint64_t incoming_flows::chunk_bytes(const lane& l, std::uint64_t share) const noexcept {
  if (!l.measured) return piece_bytes_unmeasured;
  const auto& time = l.profile.piece;
  const auto bytes_in = [&](double ns) {
    const auto bytes = std::max(time.bytes_in(time.latency_ns() + ns), 0.0);
    return std::clamp(static_cast<std::uint64_t>(bytes), piece_bytes_min, piece_bytes_max);
  };
  return std::clamp(share / share_parts, bytes_in(piece_ns_min), bytes_in(piece_ns_max));
}

/// The rails as `strategy::split` sees them; 0: none can be asked now.
std::size_t incoming_flows::describe(std::span<rail_state> states,
                                     std::uint64_t now_ns) const noexcept {
  bool any = false;
  for (std::size_t i = 0; i < of_.lanes.count(); ++i) {
    const lane& l = of_.lanes[i];
    const bool usable = l.usable() && now_ns >= l.avoided_until_ns;
    any |= usable;
    const auto busy_ns = l.load.busy_ns(now_ns);
    using enum rail_state::condition;
    states[i] = {.now = !usable       ? down
                        : busy_ns > 0 ? busy
                                      : idle,
                 .latency_ns = l.what.latency_ns,
                 .busy_until_ns = now_ns + static_cast<std::uint64_t>(busy_ns),
                 .profile = &l.profile};
  }
  return any ? of_.lanes.count() : 0;
}

/// Asks for pieces until every rail has enough under way, or nothing is left to be asked for.
void incoming_flows::feed(inflow& in, std::uint64_t now_ns, orders& out) noexcept {
  while (!in.open.empty()) {
    std::array<rail_state, rails_per_peer_max> states;
    const auto rails = std::span(states).first(describe(states, now_ns));
    if (rails.empty()) break;
    std::uint64_t bytes = 0;
    for (const auto& r : in.open) bytes += r.bytes;
    const remainder rest{.offset = in.open.front().offset, .bytes = bytes};
    std::array<piece, rails_per_peer_max> pieces;
    const auto& how = in.whole->how ? *in.whole->how : of_.queue.how();
    const auto count = how.split(rest, now_ns, rails, pieces);
    bool asked = false;
    for (std::size_t i = 0; i < std::min(count, rails.size()); ++i) {
      const auto on = pieces[i].rail;
      if (on >= rails.size() || rails[on].now == rail_state::condition::down) continue;
      const auto share = pieces[i].bytes;
      const auto chunk = chunk_bytes(of_.lanes[on], share);
      const bool all = pieces[i].whole || share <= chunk + chunk / 2;
      asked |= ask(in, on, all ? share : chunk, now_ns, out);
    }
    if (!asked) break;
  }
  if (!in.open.empty() && std::ranges::none_of(in.ways, busy))
    starving_ = true;  // no rail, or no memory to expose: asked again at the next look
}

/// Asks for up to so many bytes, in one part. False: the rail has enough, or nothing is left.
bool incoming_flows::ask(inflow& in, std::uint32_t on, std::uint64_t bytes, std::uint64_t now_ns,
                         orders& out) noexcept {
  if (in.open.empty() || bytes == 0) return false;
  auto& way = in.ways[on];
  const auto free = std::ranges::find(way, false, &inflow::asked::under_way);
  if (free == way.end()) return false;
  auto& range = in.open.front();
  lane& l = of_.lanes[on];
  const inflow::range what{.offset = range.offset, .bytes = std::min(bytes, range.bytes)};
  if (!expose(*free, in.whole->memory.subspan(what.offset, what.bytes))) return false;
  free->what = what;
  free->left = what.bytes;
  free->at_ns = now_ns;
  range.offset += what.bytes;
  range.bytes -= what.bytes;
  if (range.bytes == 0) in.open.erase(in.open.begin());
  free->predicted_ns = l.profile.piece.ns_for(what.bytes);
  l.load.begun(now_ns, free->predicted_ns);
  out.add({.what = control_kind::cts,
           .lane = static_cast<std::uint8_t>(on),
           .send_id = in.whole->theirs_,
           .offset = what.offset,
           .target = free->ticket});
  statistics::add(of_.set.counts.pieces);
  return true;
}

/// Exposes the memory of a piece. False: the driver cannot now.
bool incoming_flows::expose(inflow::asked& piece, std::span<std::byte> target) noexcept {
  ++piece.turn;
  const auto shown = of_.lanes[piece.lane].via.memory()->expose(
      {.bytes = target,
       .who = rails::process_set::only(of_.to),
       .token = rendezvous::token_of(piece.number, piece.turn)});
  if (!shown) return false;
  piece.ticket = *shown;
  piece.under_way = true;
  return true;
}

void incoming_flows::withdraw(inflow::asked& piece) noexcept {
  if (!std::exchange(piece.under_way, false)) return;
  of_.lanes[piece.lane].via.memory()->withdraw(piece.ticket);
}

void incoming_flows::send(const orders& out) noexcept {
  for (std::size_t i = 0; i < out.count; ++i) of_.host.send_control(out.all[i]);
}

// ---- what comes ---------------------------------------------------------------------------------

void incoming_flows::landed(landing& where, std::uint64_t turn, std::uint64_t bytes) noexcept {
  auto& piece = static_cast<inflow::asked&>(where);
  const auto now_ns = base::now_ns();
  orders out;
  transfer* whole = nullptr;
  {
    const base::lock_guard guard(lock_);
    if (!piece.under_way || piece.turn != turn) return;  // withdrawn since
    of_.lanes[piece.lane].heard_ns = now_ns;
    piece.left -= std::min(bytes, piece.left);
    if (piece.left > 0) return;
    inflow& in = *piece.of;
    piece_in(piece, now_ns);
    if (in.bytes_left == 0) {
      whole = &close(in);
      out.add({.what = control_kind::received, .send_id = whole->theirs_});
    } else {
      feed(in, now_ns, out);
    }
  }
  send(out);
  if (whole) rendezvous::end(*whole, true);
}

void incoming_flows::piece_in(inflow::asked& piece, std::uint64_t now_ns) noexcept {
  lane& l = of_.lanes[piece.lane];
  withdraw(piece);
  l.load.ended(now_ns, piece.predicted_ns);
  piece.of->bytes_left -= piece.what.bytes;
  learn(l, piece, now_ns);
}

/// What the piece took, behind the one before it on the same rail.
void incoming_flows::learn(lane& l, const inflow::asked& piece, std::uint64_t now_ns) noexcept {
  const auto since = std::max(piece.at_ns, l.last_landed_ns);
  l.last_landed_ns = now_ns;
  if (now_ns <= since || piece.what.bytes < piece_bytes_min) return;
  const auto ns = static_cast<double>(now_ns - since);
  if (l.measured) {
    l.profile.piece.learn(piece.what.bytes, ns,
                          l.lessons < first_lessons ? first_weight : learning_weight);
  } else {
    l.profile.piece =
        sampling::curve::straight(l.what.latency_ns, static_cast<double>(piece.what.bytes) / ns);
    l.measured = true;
  }
  ++l.lessons;
}

/// All is in, or the peer is lost.
transfer& incoming_flows::close(inflow& in) noexcept {
  for (auto& way : in.ways)
    for (auto& piece : way) withdraw(piece);
  inflows_.erase(in);
  spare_.push_back(in);
  return *in.whole;
}

// ---- what has to be asked for again -------------------------------------------------------------

/// It does not come on the rail that it was asked for on.
void incoming_flows::reopen(inflow::asked& piece, std::uint64_t now_ns) noexcept {
  withdraw(piece);
  of_.lanes[piece.lane].load.ended(now_ns, piece.predicted_ns);
  piece.of->open.push_back(piece.what);
  statistics::add(of_.set.counts.pieces_again);
}

/// The pieces are withdrawn first, so that no byte of the old asking can land beside the new one's.
void incoming_flows::retake(lane& l, std::uint64_t now_ns) noexcept {
  {
    const base::lock_guard guard(lock_);
    const auto on = of_.lanes.number_of(l);
    for (inflow* in = inflows_.front(); in; in = inflows_.after(*in)) {
      for (auto& piece : in->ways[on])
        if (piece.under_way) reopen(piece, now_ns);
      in->hungry = true;
    }
  }
  feed_hungry(now_ns);
}

/// Tickets are never used twice.
inflow::asked* incoming_flows::find(const rails::ticket& asked) noexcept {
  for (inflow* in = inflows_.front(); in; in = inflows_.after(*in))
    for (auto& way : in->ways)
      for (auto& piece : way)
        if (piece.under_way && piece.ticket == asked) return &piece;
  return nullptr;
}

void incoming_flows::refused(const control& c) noexcept {
  constexpr std::uint64_t avoided_ns = 20'000'000;
  const auto now_ns = base::now_ns();
  orders out;
  {
    const base::lock_guard guard(lock_);
    auto* piece = find(c.target);
    if (!piece || piece->lane != c.lane) return;  // asked for again already
    of_.lanes[piece->lane].avoided_until_ns = now_ns + avoided_ns;
    reopen(*piece, now_ns);
    starving_ = true;
    feed(*piece->of, now_ns, out);
  }
  send(out);
}

void incoming_flows::renewed(lane& l, bool reconnected) noexcept {
  const base::lock_guard guard(lock_);
  if (reconnected) l.measured = false;
  starving_ = true;
}

void incoming_flows::feed_starving(std::uint64_t now_ns) noexcept {
  {
    const base::lock_guard guard(lock_);
    if (!std::exchange(starving_, false)) return;
    for (inflow* in = inflows_.front(); in; in = inflows_.after(*in)) in->hungry = true;
  }
  feed_hungry(now_ns);
}

/// One flow at a time, so that what they ask for leaves without the lock.
void incoming_flows::feed_hungry(std::uint64_t now_ns) noexcept {
  while (true) {
    orders out;
    {
      const base::lock_guard guard(lock_);
      inflow* in = inflows_.front();
      while (in && !in->hungry) in = inflows_.after(*in);
      if (!in) return;
      in->hungry = false;
      feed(*in, now_ns, out);
    }
    send(out);
  }
}

void incoming_flows::fail() noexcept {
  while (true) {
    transfer* whole = nullptr;
    {
      const base::lock_guard guard(lock_);
      if (inflow* in = inflows_.front()) whole = &close(*in);
    }
    if (!whole) return;
    rendezvous::end(*whole, false);
  }
}

std::uint32_t incoming_flows::owing_lanes() noexcept {
  std::uint32_t owing = 0;
  const base::lock_guard guard(lock_);
  for (inflow* in = inflows_.front(); in; in = inflows_.after(*in))
    for (std::uint32_t i = 0; i < of_.lanes.count(); ++i)
      if (busy(in->ways[i])) owing |= 1u << i;
  return owing;
}

}  // namespace headway::packets
