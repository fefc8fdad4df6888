#include <algorithm>
#include <mutex>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "packets/bundle/bundle.hpp"
#include "packets/bundle/keeper.hpp"
#include "packets/peers.hpp"

// Large messages: the receiver asks for pieces (inflows), the sender gives them (outflows).
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
  return std::ranges::any_of(w, [](const auto& piece) { return piece.zone != 0; });
}

}  // namespace

// ---- what comes in ------------------------------------------------------------------------------

void bundle::pull(const pull_order& order) noexcept {
  const control over{.kind = control_kind::pull_over, .send_id = order.send_id};
  if (order.target.empty()) {
    send_control(over);
    return all_.pulled(order.owner, true);
  }
  controls orders;
  bool lost = false;
  {
    const std::lock_guard guard(flows_lock_);
    lost = to_.lost();  // after this, `fail_flows` finds it in the list
    if (!lost) {
      mark_active();
      if (spare_inflows_.empty()) spare_inflows_.push_back(std::make_unique<inflow>(*this));
      auto& in = *inflows_.emplace_back(std::move(spare_inflows_.back()));
      spare_inflows_.pop_back();
      in.order = order;
      in.bytes_left = order.target.size();
      in.open.assign(1, {.offset = 0, .bytes = order.target.size()});
      feed(in, base::now_ns(), orders);
    }
  }
  if (lost) return all_.pulled(order.owner, false);
  send_controls(orders);
}

/// How much to ask for at a time of a rail's share.
std::uint64_t bundle::chunk_bytes(const lane& l, std::uint64_t share) const noexcept {
  if (!l.measured) return piece_bytes_unmeasured;
  const auto& time = l.profile.piece;
  const auto bytes_in = [&](double ns) {
    const auto bytes = std::max(time.bytes_in(time.latency_ns() + ns), 0.0);
    return std::clamp(static_cast<std::uint64_t>(bytes), piece_bytes_min, piece_bytes_max);
  };
  return std::clamp(share / share_parts, bytes_in(piece_ns_min), bytes_in(piece_ns_max));
}

/// Asks for pieces until every rail has enough under way, or nothing is left to be asked for.
void bundle::feed(inflow& in, std::uint64_t now_ns, controls& orders) noexcept {
  while (!in.open.empty()) {
    std::array<rail_state, rails_per_peer_max> states;
    bool usable = false;
    for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
      lane& l = *lanes_[i];
      const bool up = l.up.load(std::memory_order_relaxed) &&
                      l.proved.load(std::memory_order_relaxed) && now_ns >= l.avoided_until_ns;
      usable |= up;
      const auto busy_ns = l.clock.busy_ns(now_ns);
      using enum rail_state::condition;
      states[i] = {.now = !up           ? down
                          : busy_ns > 0 ? busy
                                        : idle,
                   .latency_ns = l.what.latency_ns,
                   .busy_until_ns = now_ns + static_cast<std::uint64_t>(busy_ns),
                   .profile = &l.profile};
    }
    if (!usable) break;
    std::uint64_t bytes = 0;
    for (const auto& r : in.open) bytes += r.bytes;
    const remainder rest{.offset = in.open.front().offset, .bytes = bytes};
    std::array<piece, rails_per_peer_max> pieces;
    const auto& how = in.order.how ? *in.order.how : to_.strategy();
    const auto count = how.split(rest, now_ns, std::span(states).first(lanes_.size()), pieces);
    bool asked = false;
    for (std::size_t i = 0; i < std::min(count, lanes_.size()); ++i) {
      const auto on = pieces[i].rail;
      if (on >= lanes_.size() || states[on].now == rail_state::condition::down) continue;
      const auto share = pieces[i].bytes;
      const auto chunk = chunk_bytes(*lanes_[on], share);
      const bool all = pieces[i].whole || share <= chunk + chunk / 2;
      asked |= grant(in, on, all ? share : chunk, now_ns, orders);
    }
    if (!asked) break;
  }
  if (!in.open.empty() && std::ranges::none_of(in.ways, busy))
    starving_ = true;  // no rail, or no zone: asked again at the next look
}

/// A landing zone for a piece. False: the driver has none now.
bool bundle::open_zone(inflow::asked& piece, std::span<std::byte> target) noexcept {
  piece.zone = keeper_.zones.insert(piece);
  if (lanes_[piece.lane]->via.land(to_.id(), rails::landing_id{piece.zone}, target)) return true;
  static_cast<void>(keeper_.zones.take(piece.zone));
  piece.zone = 0;
  return false;
}

void bundle::close_zone(inflow::asked& piece) noexcept {
  if (piece.zone == 0) return;
  lanes_[piece.lane]->via.unland(rails::landing_id{piece.zone});
  static_cast<void>(keeper_.zones.take(piece.zone));
  piece.zone = 0;
}

/// Asks for up to so many bytes, in one part. False: the rail has enough, or nothing is left.
bool bundle::grant(inflow& in, std::uint32_t on, std::uint64_t bytes, std::uint64_t now_ns,
                   controls& orders) noexcept {
  if (in.open.empty() || bytes == 0) return false;
  auto& way = in.ways[on];
  const auto free = std::ranges::find(way, 0u, &inflow::asked::zone);
  if (free == way.end()) return false;
  auto& range = in.open.front();
  lane& l = *lanes_[on];
  const inflow::range what{.offset = range.offset, .bytes = std::min(bytes, range.bytes)};
  free->what = what;
  free->landed = 0;
  free->at_ns = now_ns;
  if (!open_zone(*free, in.order.target.subspan(what.offset, what.bytes))) return false;
  range.offset += what.bytes;
  range.bytes -= what.bytes;
  if (range.bytes == 0) in.open.erase(in.open.begin());
  free->predicted_ns = l.profile.piece.ns_for(what.bytes);
  l.clock.begun(now_ns, free->predicted_ns);
  orders.push_back({.kind = control_kind::pull,
                    .lane = static_cast<std::uint8_t>(on),
                    .send_id = in.order.send_id,
                    .zone = free->zone,
                    .offset = what.offset,
                    .bytes = what.bytes});
  statistics::add(keeper_.counts.pieces);
  return true;
}

/// A piece is in: what it took is learnt.
void bundle::piece_in(inflow::asked& piece, std::uint64_t now_ns) noexcept {
  lane& l = *lanes_[piece.lane];
  close_zone(piece);
  l.clock.ended(now_ns, piece.predicted_ns);
  piece.of->bytes_left -= piece.what.bytes;
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

/// Asks for it anew: it does not come on the rail that it was asked for on.
void bundle::reopen(inflow::asked& piece, std::uint64_t now_ns) noexcept {
  close_zone(piece);
  lanes_[piece.lane]->clock.ended(now_ns, piece.predicted_ns);
  piece.of->open.push_back(piece.what);
  statistics::add(keeper_.counts.pieces_again);
}

void bundle::landed(inflow::asked& piece, std::uint32_t zone, std::uint64_t bytes,
                    std::uint64_t now_ns) noexcept {
  controls orders;
  void* owner = nullptr;
  bool whole = false;
  {
    const std::lock_guard guard(flows_lock_);
    if (piece.zone != zone) return;  // closed since
    lanes_[piece.lane]->heard_ns = now_ns;
    piece.landed += bytes;
    if (piece.landed < piece.what.bytes) return;
    inflow& in = *piece.of;
    piece_in(piece, now_ns);
    whole = in.bytes_left == 0;
    if (whole) {
      owner = in.order.owner;
      orders.push_back({.kind = control_kind::pull_over, .send_id = in.order.send_id});
      close_inflow(in);
    } else {
      feed(in, now_ns, orders);
    }
  }
  send_controls(orders);
  if (whole) all_.pulled(owner, true);
}

/// All is in, or the peer is lost.
void bundle::close_inflow(inflow& in) noexcept {
  for (auto& way : in.ways)
    for (auto& piece : way) close_zone(piece);
  const auto found = std::ranges::find(inflows_, &in, &std::unique_ptr<inflow>::get);
  spare_inflows_.push_back(std::move(*found));
  inflows_.erase(found);
}

/// What was under way on a lost rail is asked for again. Its zones are closed first, so that no
/// byte of the old asking can land beside the new one's.
void bundle::retake(lane& l, std::uint64_t now_ns) noexcept {
  controls orders;
  {
    const std::lock_guard guard(flows_lock_);
    const auto on = lane_number(l);
    l.clock = {};
    for (auto& in : inflows_)
      for (auto& piece : in->ways[on])
        if (piece.zone != 0) reopen(piece, now_ns);
    for (auto& in : inflows_) feed(*in, now_ns, orders);
  }
  send_controls(orders);
}

/// The peer's end of this rail is not up: nothing of the piece was sent.
void bundle::refused(const control& c, std::uint64_t now_ns) noexcept {
  constexpr std::uint64_t avoided_ns = 20'000'000;
  controls orders;
  {
    const std::lock_guard guard(flows_lock_);
    auto* piece = keeper_.zones.find(c.zone);
    if (!piece || piece->of->of != this || piece->zone != c.zone)
      return;  // asked for again already
    lanes_[piece->lane]->avoided_until_ns = now_ns + avoided_ns;
    reopen(*piece, now_ns);
    starving_ = true;
    feed(*piece->of, now_ns, orders);
  }
  send_controls(orders);
}

void bundle::feed_starving(std::uint64_t now_ns) noexcept {
  controls orders;
  {
    const std::lock_guard guard(flows_lock_);
    if (!std::exchange(starving_, false)) return;
    for (auto& in : inflows_) feed(*in, now_ns, orders);
  }
  send_controls(orders);
}

// ---- what goes out ------------------------------------------------------------------------------

/// The peer asks for a piece. The first time, the room above says what it is of.
void bundle::pulled_by_peer(const control& c) noexcept {
  const auto known = [&]() -> outflow* {
    const auto found =
        std::ranges::find_if(outflows_, [&](const auto& f) { return f->send_id == c.send_id; });
    return found == outflows_.end() ? nullptr : found->get();
  };
  flows_lock_.lock();
  outflow* flow = known();
  if (!flow) {
    flows_lock_.unlock();
    void* owner = nullptr;
    const auto data = all_.offered(to_, c.send_id, owner);  // in R: nobody else asks meanwhile
    if (!owner) return;                                     // not what we offered
    flows_lock_.lock();
    flow = outflows_.emplace_back(std::make_unique<outflow>()).get();
    flow->send_id = c.send_id;
    flow->data = data;
    flow->owner = owner;
    mark_active();
  }
  if (flow->over || c.offset > flow->data.size() || c.bytes > flow->data.size() - c.offset) {
    flows_lock_.unlock();
    return broken("a request for what no message has");
  }
  ++flow->pieces_out;
  flow_piece& piece = keeper_.take_piece();
  piece.of = this;
  piece.flow = flow;
  piece.lane = c.lane;
  piece.head_bytes = 0;
  piece.answered = false;
  piece.charge = 0;
  piece.landing = rails::landing_id{c.zone};
  piece.offset = 0;  // of its zone
  piece.payload = flow->data.subspan(c.offset, c.bytes);
  piece.sent = &bundle::piece_sent;
  flows_lock_.unlock();
  if (post(piece) == posted::down) piece_over(piece, false);
}

void bundle::pull_over(const control& c) noexcept {
  void* owner = nullptr;
  bool known = false;
  {
    const std::lock_guard guard(flows_lock_);
    const auto found =
        std::ranges::find_if(outflows_, [&](const auto& f) { return f->send_id == c.send_id; });
    known = found != outflows_.end();
    if (known) {
      (*found)->over = true;
      if ((*found)->pieces_out != 0) return;  // a lost rail's driver still has some
      owner = (*found)->owner;
      outflows_.erase(found);
    }
  }
  // Nothing of it was wanted.
  if (!known) static_cast<void>(all_.offered(to_, c.send_id, owner));
  if (owner) all_.pushed(owner, true);
}

/// A driver has let go of a piece, sent or not: the peer asks again for what it misses.
void bundle::piece_over(flow_piece& piece, bool) noexcept {
  void* owner = nullptr;
  bool well = true;
  {
    const std::lock_guard guard(flows_lock_);
    outflow& flow = *piece.flow;
    if (--flow.pieces_out == 0 && flow.over) {
      owner = flow.owner;
      well = flow.well;
      std::erase_if(outflows_, [&](const auto& f) { return f.get() == &flow; });
    }
  }
  keeper_.give_back(piece);
  if (owner) all_.pushed(owner, well);
}

void bundle::fail_flows() noexcept {
  std::vector<void*> pulls;
  std::vector<void*> pushes;
  {
    const std::lock_guard guard(flows_lock_);
    while (!inflows_.empty()) {
      pulls.push_back(inflows_.back()->order.owner);
      close_inflow(*inflows_.back());
    }
    for (auto& f : outflows_) {
      f->over = true;
      f->well = false;
      if (f->pieces_out == 0) pushes.push_back(f->owner);
    }
    std::erase_if(outflows_, [](const auto& f) { return f->pieces_out == 0; });
  }
  for (void* owner : pulls) all_.pulled(owner, false);
  for (void* owner : pushes) all_.pushed(owner, false);
}

}  // namespace headway::packets
