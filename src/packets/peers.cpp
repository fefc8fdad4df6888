#include "packets/peers.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "packets/bundle/bundle.hpp"
#include "packets/rail.hpp"
#include "packets/tunables.hpp"
#include "sampling/threshold.hpp"

namespace headway::packets {
namespace {

/// A smaller piece costs more to handle than it carries.
constexpr std::uint64_t divided_bytes_min = 8 * 1024;

}  // namespace

peers::peers(progress::engine& engine, std::size_t count, rails::peer_id self)
    : engine_(engine), self_(self), keeper_(engine) {
  peers_.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    peers_.push_back(std::make_unique<peer>(*this, static_cast<rails::peer_id>(i)));
}

peers::~peers() { stop(); }

void peers::add_rail(std::unique_ptr<rails::driver> driver) {
  rails_.push_back(std::make_unique<rail>(*this, rails_.size(), std::move(driver)));
}

base::result<> peers::connect(rails::peer_id whom,
                              std::span<const std::optional<std::vector<std::byte>>> addresses,
                              std::span<const std::size_t> turns) {
  peer& p = *peers_[static_cast<std::uint32_t>(whom)];
  std::vector<std::size_t> reaching;
  const auto most = static_cast<std::size_t>(rails_per_peer.get());
  for (const auto i : in_turn(addresses, turns)) {
    auto& driver = rails_[i]->driver();
    // Beside memory nothing else is worth it: what cannot be cut needs no second rail.
    if (!reaching.empty() && !driver.query().severable) continue;
    const auto connected = driver.connect(whom, *addresses[i]);
    if (!connected && connected.error().kind != base::fault_kind::unsupported) return connected;
    if (!connected) continue;
    reaching.push_back(i);
    if (!driver.query().severable || reaching.size() == most) break;
  }
  if (reaching.empty())
    return base::failed(base::fault_kind::unsupported,
                        fmt::format("no rail reaches rank {}", static_cast<std::uint32_t>(whom)));
  const auto part = eager_memory_bytes.get() / static_cast<std::int64_t>(peers_.size());
  const auto first = *std::ranges::min_element(reaching);
  p.rail_ = &rails_[first]->driver();
  p.rail_index_ = first;
  p.credit_bytes_ = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(part, 1 << 12, eager_peer_bytes_max.get()));
  p.eager_bytes_max_ = p.rail_->query().eager_bytes_max;
  if (reaching.size() > 1) bundle_up(p, reaching);
  p.eager_bytes_max_ = std::min<std::size_t>(p.eager_bytes_max_, p.credit_bytes_ / 2);
  for (const auto i : reaching) {
    ++rails_[i]->peer_count;
    if (whom != self_) ++rails_[i]->other_count;
  }
  return {};
}

/// The rails that may reach a peer: those that cannot be cut first, the others by their turns, so
/// that both ends take the same ones where not all are taken.
std::vector<std::size_t> peers::in_turn(
    std::span<const std::optional<std::vector<std::byte>>> addresses,
    std::span<const std::size_t> turns) const {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < rails_.size() && i < addresses.size(); ++i)
    if (addresses[i]) all.push_back(i);
  std::ranges::stable_sort(all, {}, [&](std::size_t i) {
    const bool severable = rails_[i]->driver().query().severable;
    return std::pair(severable, severable && !turns.empty() ? turns[i] : 0);
  });
  return all;
}

void peers::bundle_up(peer& p, std::span<const std::size_t> in_order) {
  constexpr std::size_t ring_bytes_min = 256 * 1024;  // several frames of the largest size
  p.bundle_ = std::make_unique<bundle>(*this, p, keeper_,
                                       std::max<std::size_t>(p.credit_bytes_, ring_bytes_min));
  for (const auto i : in_order) {
    p.bundle_->add_lane(rails_[i]->driver(), i);
    rails_[i]->bundled = true;
  }
  p.eager_bytes_max_ = p.bundle_->eager_bytes_max();
  p.use(default_strategy());
  keeper_.add(*p.bundle_);
}

void peers::deliver(peer& from, std::span<const std::byte> packet) noexcept {
  stream_head head;
  std::memcpy(&head, packet.data(), sizeof head);
  from.returned_.store(head.credit, std::memory_order_relaxed);
  if (head.kind == credit_only) return;
  const bool beside = head.kind >= beside_kinds && beside_;
  (beside ? beside_ : above_)->arrived(from, packet);
  from.return_credit_if_due();
}

void peers::know(rails::peer_id whom, std::size_t rail_index, const sampling::profile& known) {
  auto& p = *peers_[static_cast<std::uint32_t>(whom)];
  lane* l = p.bundle_ ? p.bundle_->lane_on(rail_index) : nullptr;
  if (!l) return;
  l->profile = known;
  l->measured = true;
  l->packets_measured = true;
  // Where all rails are known, so is from which size on it is better to announce and divide.
  std::vector<const sampling::profile*> all;
  for (std::size_t i = 0; i < rails_.size(); ++i)
    if (const lane* one = p.bundle_->lane_on(i); one && one->measured) all.push_back(&one->profile);
  if (all.size() < p.bundle_->lane_count()) return;
  p.eager_bytes_max_ = std::min<std::size_t>(
      p.eager_bytes_max_, sampling::dividing_pays_from(all, p.eager_bytes_max_, divided_bytes_min));
}

std::optional<sampling::profile> peers::learnt(rails::peer_id whom,
                                               std::size_t rail_index) noexcept {
  constexpr std::uint32_t lessons_min =
      16;  // of a weight of a quarter each: the start is forgotten
  auto& p = *peers_[static_cast<std::uint32_t>(whom)];
  const lane* l = p.bundle_ ? p.bundle_->lane_on(rail_index) : nullptr;
  if (!l || l->lessons < lessons_min) return std::nullopt;
  auto known = l->profile;
  if (!l->packets_measured) known.eager = known.piece;  // nearer than the first guess
  return known;
}

void peers::start(receiver& above) {
  above_ = &above;
  bool nearer_in_use = false;
  for (auto& r : rails_) {
    if (r->peer_count == 0) continue;
    r->nearer_in_use = nearer_in_use;
    nearer_in_use |= r->other_count > 0;
    engine_.submit(*r);
    engine_.add_source(*r);
  }
  if (keeper_.any()) engine_.add_source(keeper_);
  engine_.add_tick(&peers::tick, this);
  started_ = true;
}

void peers::stop() noexcept {
  if (!started_) return;
  started_ = false;
  finish_bundles();
  for (auto& p : peers_)
    if (p->bundle_) p->bundle_->end_help();
  engine_.remove_tick(&peers::tick, this);
  if (keeper_.any()) engine_.remove_source(keeper_);
  for (auto& r : rails_) {
    if (r->peer_count == 0) continue;
    engine_.remove_source(*r);
    engine_.cancel(*r);
  }
  static_cast<void>(engine_.cancel(nudge_));
  for (auto& r : rails_) r->driver().close();
  end_posted();
}

/// The rails are closed, and nobody else is here any more.
void peers::end_posted() noexcept {
  for (auto& r : rails_)
    if (r->peer_count > 0) r->end_posted();
  for (auto& p : peers_) {
    p->lost_.store(true, std::memory_order_seq_cst);  // (L), of whoever posts from now on
    if (p->bundle_) {
      p->bundle_->fail_all();
    } else if (p->rail_) {
      static_cast<void>(p->fail_waiting());
    }
  }
  const std::lock_guard guard(stalled_lock_);
  while (peer* p = stalled_list_.pop_front()) {
    p->stalled_ = false;
    engine_.pending_ended();
  }
}

/// What is under way ends before the rails close: the peer may still need our acknowledgement, or
/// what we send again. One that has left already does not answer any more.
void peers::finish_bundles() noexcept {
  constexpr std::uint64_t patience_ns = 1'000'000'000;
  if (!keeper_.any()) return;
  keeper_.finishing.store(true, std::memory_order_relaxed);
  const auto until_ns = base::now_ns() + patience_ns;
  const auto unfinished = [](const auto& p) {
    return p->bundle_ && !p->lost() && !p->bundle_->at_rest();
  };
  while (std::ranges::any_of(peers_, unfinished) && base::now_ns() < until_ns) {
    keeper_.hurry();
    if (!engine_.poll()) sched_yield();
  }
}

std::optional<rail_use> peers::use_of(std::size_t rail_index) const noexcept {
  std::optional<rail_use> sum;
  for (const auto& p : peers_) {
    const lane* l = p->bundle_ ? p->bundle_->lane_on(rail_index) : nullptr;
    if (!l) continue;
    if (!sum) sum.emplace();
    sum->frames += l->frames.load(std::memory_order_relaxed);
    sum->packets += l->packets.load(std::memory_order_relaxed);
    sum->losses += l->losses.load(std::memory_order_relaxed);
    sum->returns += l->returns.load(std::memory_order_relaxed);
  }
  return sum;
}

rails::driver& peers::rail_at(std::size_t index) const noexcept { return rails_[index]->driver(); }

int peers::peers_on(std::size_t rail_index) const noexcept {
  return rails_[rail_index]->peer_count;
}

void peers::stalled(peer& whom) noexcept {
  const std::lock_guard guard(stalled_lock_);
  if (whom.stalled_) return;
  whom.stalled_ = true;
  stalled_list_.push_back(whom);
  stalled_count_.fetch_add(1, std::memory_order_relaxed);
  engine_.pending_started();
}

void peers::nudge() noexcept {
  // Acquire: pairs with the release at its end.
  if (nudges_ && !nudge_.queued.exchange(true, std::memory_order_acquire))
    engine_.submit_to_background(nudge_);
}

bool peers::retry_stalled(std::size_t rail_index) noexcept {
  base::intrusive_list<peer> again;
  {
    const std::lock_guard guard(stalled_lock_);
    for (peer* p = stalled_list_.front(); p;) {
      peer* following = stalled_list_.after(*p);
      if (p->rail_index_ == rail_index) {
        stalled_list_.erase(*p);
        again.push_back(*p);
      }
      p = following;
    }
  }
  bool moved = false;
  while (peer* p = again.pop_front()) moved |= retry(*p);
  return moved;
}

bool peers::retry(peer& p) noexcept {
  const auto still_stalled = [&] {
    const std::lock_guard guard(stalled_lock_);
    stalled_list_.push_back(p);
    return false;
  };
  if (!p.mask_.try_hold()) return still_stalled();
  p.adopt_submitted();
  const outgoing* before = p.first_;
  const bool flowing = p.drain();
  const bool moved = p.first_ != before;
  if (flowing) {
    // Under the peer's mask: only its holder says that it is stalled.
    const std::lock_guard guard(stalled_lock_);
    p.stalled_ = false;
    stalled_count_.fetch_sub(1, std::memory_order_relaxed);
  } else {
    still_stalled();
  }
  p.mask_.let_go();
  if (flowing) {
    p.flush();
    engine_.pending_ended();
  }
  return moved;
}

void peers::lose(peer& whom) noexcept {
  if (!whom.lost_.exchange(true, std::memory_order_seq_cst))  // (L)
    base::log(base::severity::info, "rank {} is lost", static_cast<std::uint32_t>(whom.id()));
  if (whom.loss_told_) return;
  if (whom.bundle_) {
    whom.bundle_->fail_all();
  } else {
    for (base::backoff its_holder; !whom.fail_waiting();) its_holder.wait();
  }
  whom.loss_told_ = true;
  above_->lost(whom);
  if (beside_) beside_->lost(whom);
}

void peers::tick(void* self) noexcept {
  const auto now = base::now_ns();
  static_cast<peers*>(self)->keeper_.tick();
  for (auto& r : static_cast<peers*>(self)->rails_)
    if (r->peer_count > 0) r->driver().tick(now);
}

}  // namespace headway::packets
