#include "packets/transfer/incoming_flows.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
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
/// The first samples of a job have a greater weight: the profile of earlier jobs may be outdated.
constexpr std::uint32_t first_lessons = 16;
constexpr double first_weight = 0.5;
constexpr double learning_weight = 0.25;

using state = inflow::asked::state;

bool is_in_use(const inflow::asked& piece) noexcept { return piece.now != state::free; }

bool is_asked_for(const inflow::asked& piece) noexcept {
  return piece.now == state::chosen || piece.now == state::under_way;
}

void reopen(inflow& in, const inflow::range& what) noexcept {
  HEADWAY_ASSERT(in.open.size() < in.open.capacity());  // nothing is allocated under the lock
  in.open.push_back(what);
}

std::size_t count_in_use(const inflow& in) noexcept {
  std::size_t count = 0;
  for (const auto& way : in.ways) count += std::ranges::count_if(way, is_in_use);
  return count;
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
  HEADWAY_DEBUG_ASSERT(!whole.scattered && !whole.memory.empty());
  inflow& in = take_spare();
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
      in.hungry = in.served = true;
      in.lost = false;
      in.open.assign(1, {.offset = 0, .bytes = whole.memory.size()});
    }
  }
  if (lost) return rendezvous::end(whole, false);
  serve(in, of_.clock.now_ns());
}

// ---- serving ------------------------------------------------------------------------------------

void incoming_flows::serve(inflow& in, std::uint64_t now_ns) noexcept {
  bool may_feed = true;
  while (true) {
    step next;
    transfer* over = nullptr;
    bool well = false;
    {
      const base::lock_guard guard(lock_);
      may_feed |= std::exchange(in.hungry, false);
      plan(in, may_feed, now_ns, next);
      if (next.empty()) {
        well = in.bytes_left == 0;
        over = pause(in);
      }
    }
    if (over) {
      if (well) of_.host.send_control({.what = control_kind::received, .send_id = over->theirs_});
      return rendezvous::end(*over, well);
    }
    if (next.empty()) return;
    carry_out(next);
    orders out;
    {
      const base::lock_guard guard(lock_);
      may_feed &= settle(in, now_ns, next, out);
    }
    for (std::size_t i = 0; i < out.count; ++i) of_.host.send_control(out.all[i]);
  }
}

/// What is withdrawn comes first, so that no byte of the old asking can land beside the new one's.
void incoming_flows::plan(inflow& in, bool may_feed, std::uint64_t now_ns, step& next) noexcept {
  for (auto& way : in.ways)
    for (auto& piece : way)
      if (piece.now == state::ended)
        next.withdrawn[next.withdrawn_count++] = {.piece = &piece, .ticket = piece.ticket};
  if (next.empty() && may_feed && !in.lost) feed(in, now_ns, next);
}

void incoming_flows::carry_out(step& next) const noexcept {
  for (auto& c : std::span(next.withdrawn).first(next.withdrawn_count))
    of_.lanes[c.piece->lane].via.memory()->withdraw(*c.ticket);
  for (auto& c : std::span(next.exposed).first(next.exposed_count)) {
    const auto& piece = *c.piece;
    const auto shown = of_.lanes[piece.lane].via.memory()->expose(
        {.bytes = piece.of->whole->memory.subspan(piece.what.offset, piece.what.bytes),
         .who = rails::process_set::only(of_.to),
         .token = rendezvous::token_of(piece.number, piece.turn)});
    if (shown) c.ticket = *shown;
  }
}

/// False: a driver could not expose memory.
bool incoming_flows::settle(inflow& in, std::uint64_t now_ns, const step& done,
                            orders& out) noexcept {
  for (const auto& c : std::span(done.withdrawn).first(done.withdrawn_count)) {
    c.piece->now = state::free;
    if (std::exchange(c.piece->again, false)) reopen(in, c.piece->what);
  }
  bool all = true;
  for (const auto& c : std::span(done.exposed).first(done.exposed_count)) {
    auto& piece = *c.piece;
    if (!c.ticket) {
      if (!std::exchange(piece.again, false))
        of_.lanes[piece.lane].load.ended(now_ns, piece.predicted_ns);
      piece.now = state::free;
      reopen(in, piece.what);
      all = false;
      continue;
    }
    piece.ticket = *c.ticket;
    piece.now = piece.again ? state::ended : state::under_way;
    if (piece.again) continue;  // taken back meanwhile
    statistics::add(of_.set.counts.pieces);
    out.all[out.count++] = {.what = control_kind::cts,
                            .lane = static_cast<std::uint8_t>(piece.lane),
                            .send_id = in.whole->theirs_,
                            .offset = piece.what.offset,
                            .target = piece.ticket};
  }
  return all;
}

transfer* incoming_flows::pause(inflow& in) noexcept {
  in.served = false;
  if (in.bytes_left > 0 && !in.lost) {
    // No rail, or no memory to expose: asked for again at the next look.
    if (count_in_use(in) == 0) starving_ = true;
    return nullptr;
  }
  HEADWAY_ASSERT(count_in_use(in) == 0);
  inflows_.erase(in);
  spare_.push_back(in);
  return in.whole;
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
                 .busy_ns = static_cast<std::uint64_t>(busy_ns),
                 .profile = &l.profile};
  }
  return any ? of_.lanes.count() : 0;
}

/// Chooses pieces until every rail has enough under way, or nothing is left to be asked for.
void incoming_flows::feed(inflow& in, std::uint64_t now_ns, step& next) noexcept {
  while (!in.open.empty()) {
    std::array<rail_state, rails_per_peer_max> states;
    const auto rails = std::span(states).first(describe(states, now_ns));
    if (rails.empty()) break;
    std::uint64_t bytes = 0;
    for (const auto& r : in.open) bytes += r.bytes;
    const remainder rest{.offset = in.open.back().offset, .bytes = bytes};
    std::array<piece, rails_per_peer_max> pieces;
    const auto& how = in.whole->how ? *in.whole->how : of_.queue.how();
    const auto count = how.split(rest, rails, pieces);
    bool any = false;
    for (std::size_t i = 0; i < std::min(count, rails.size()); ++i) {
      const auto on = pieces[i].rail;
      if (on >= rails.size() || rails[on].now == rail_state::condition::down) continue;
      const auto share = pieces[i].bytes;
      const auto chunk = chunk_bytes(of_.lanes[on], share);
      const bool all = pieces[i].whole || share <= chunk + chunk / 2;
      any |= choose(in, on, all ? share : chunk, now_ns, next);
    }
    if (!any) break;
  }
}

/// Chooses up to so many bytes, in one part. False: the rail has enough, or nothing is left. The
/// newest range is used up first, and where there are too many it is taken whole: so the ranges
/// stay within the memory that is reserved for them.
bool incoming_flows::choose(inflow& in, std::uint32_t on, std::uint64_t bytes, std::uint64_t now_ns,
                            step& next) noexcept {
  if (in.open.empty() || bytes == 0) return false;
  auto& way = in.ways[on];
  const auto free = std::ranges::find_if_not(way, is_in_use);
  if (free == way.end()) return false;
  auto& range = in.open.back();
  if (in.open.size() + count_in_use(in) >= inflow::ranges_max) bytes = range.bytes;
  lane& l = of_.lanes[on];
  ++free->turn;
  free->now = state::chosen;
  free->what = {.offset = range.offset, .bytes = std::min(bytes, range.bytes)};
  free->left = free->what.bytes;
  free->at_ns = now_ns;
  free->predicted_ns = l.profile.piece.ns_for(free->what.bytes);
  range.offset += free->what.bytes;
  range.bytes -= free->what.bytes;
  if (range.bytes == 0) in.open.pop_back();
  l.load.begun(now_ns, free->predicted_ns);
  next.exposed[next.exposed_count++] = {.piece = &*free, .ticket = std::nullopt};
  return true;
}

// ---- what comes ---------------------------------------------------------------------------------

void incoming_flows::landed(landing& where, std::uint64_t turn, std::uint64_t bytes) noexcept {
  auto& piece = static_cast<inflow::asked&>(where);
  const auto now_ns = of_.clock.now_ns();
  {
    const base::lock_guard guard(lock_);
    if (piece.now != state::under_way || piece.turn != turn) return;  // taken back since
    lane& l = of_.lanes[piece.lane];
    l.activity_ns = now_ns;
    piece.left -= std::min(bytes, piece.left);
    if (piece.left > 0) return;
    piece.now = state::ended;
    HEADWAY_DEBUG_ASSERT(piece.of->bytes_left >= piece.what.bytes);
    piece.of->bytes_left -= piece.what.bytes;
    l.load.ended(now_ns, piece.predicted_ns);
    learn(l, piece, now_ns);
    piece.of->hungry = true;
  }
  feed_hungry(now_ns);
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

// ---- what has to be asked for again -------------------------------------------------------------

/// It does not come on the rail that it was asked for on.
void incoming_flows::take_back(inflow::asked& piece, std::uint64_t now_ns) noexcept {
  if (!is_asked_for(piece) || std::exchange(piece.again, true)) return;
  if (piece.now == state::under_way) piece.now = state::ended;
  of_.lanes[piece.lane].load.ended(now_ns, piece.predicted_ns);
  statistics::add(of_.set.counts.pieces_again);
}

void incoming_flows::retake(lane& l, std::uint64_t now_ns) noexcept {
  {
    const base::lock_guard guard(lock_);
    const auto on = of_.lanes.number_of(l);
    for (inflow* in = inflows_.front(); in; in = inflows_.after(*in)) {
      for (auto& piece : in->ways[on]) take_back(piece, now_ns);
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
        if (piece.now == state::under_way && piece.ticket == asked) return &piece;
  return nullptr;
}

void incoming_flows::refused(const control& c) noexcept {
  constexpr std::uint64_t avoided_ns = 20'000'000;
  const auto now_ns = of_.clock.now_ns();
  {
    const base::lock_guard guard(lock_);
    auto* piece = find(c.target);
    if (!piece || piece->lane != c.lane) return;  // asked for again already
    of_.lanes[piece->lane].avoided_until_ns = now_ns + avoided_ns;
    take_back(*piece, now_ns);
    starving_ = true;
    piece->of->hungry = true;
  }
  feed_hungry(now_ns);
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

/// Those that another thread serves are left to it: it looks again before it leaves them.
void incoming_flows::feed_hungry(std::uint64_t now_ns) noexcept {
  while (true) {
    inflow* in = nullptr;
    {
      const base::lock_guard guard(lock_);
      in = inflows_.front();
      while (in && (!in->hungry || in->served)) in = inflows_.after(*in);
      if (!in) return;
      in->served = true;
    }
    serve(*in, now_ns);
  }
}

void incoming_flows::fail() noexcept {
  const auto now_ns = of_.clock.now_ns();
  {
    const base::lock_guard guard(lock_);
    for (inflow* in = inflows_.front(); in; in = inflows_.after(*in)) {
      for (auto& way : in->ways)
        for (auto& piece : way) take_back(piece, now_ns);
      in->lost = in->hungry = true;
    }
  }
  feed_hungry(now_ns);
}

std::uint32_t incoming_flows::owing_lanes() noexcept {
  std::uint32_t owing = 0;
  const base::lock_guard guard(lock_);
  for (inflow* in = inflows_.front(); in; in = inflows_.after(*in))
    for (std::uint32_t i = 0; i < of_.lanes.count(); ++i)
      if (std::ranges::any_of(in->ways[i], is_asked_for)) owing |= 1u << i;
  return owing;
}

}  // namespace headway::packets
