#include "cables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.hpp"

namespace headway::packets::testing {
namespace {

constexpr std::size_t in_flight_max = 6;

rails::peer_id peer_of(std::uint32_t rank) { return static_cast<rails::peer_id>(rank); }

}  // namespace

cables::cord& cables::between(std::uint32_t rail, std::uint32_t a, std::uint32_t b) {
  return cords_[{rail, {std::min(a, b), std::max(a, b)}}];
}

cables::end& cables::end_of(std::uint32_t rail, std::uint32_t whose, std::uint32_t other) {
  return between(rail, whose, other).ends[whose > other];
}

/// This end of the connection is over; what was on its way to it is gone.
void cables::lose(std::uint32_t rail, std::uint32_t whose, std::uint32_t other) {
  auto& e = end_of(rail, whose, other);
  if (!std::exchange(e.up, false)) return;
  e.coming.clear();
  drivers_[{rail, whose}]->tell({.kind = rails::event_kind::lost, .peer = peer_of(other)});
}

void cables::cut(std::uint32_t rail, std::uint32_t a, std::uint32_t b) {
  const std::lock_guard guard(lock_);
  lose(rail, a, b);
  lose(rail, b, a);
}

void cables::mute(std::uint32_t rail, std::uint32_t a, std::uint32_t b) {
  const std::lock_guard guard(lock_);
  between(rail, a, b).muted = true;
}

void cables::mend(std::uint32_t rail, std::uint32_t a, std::uint32_t b) {
  const std::lock_guard guard(lock_);
  between(rail, a, b).muted = false;
  meet(rail, a, b);
}

/// A call that gets through: the called end finds out that its old connection is dead.
void cables::meet(std::uint32_t rail, std::uint32_t a, std::uint32_t b) {
  auto& c = between(rail, a, b);
  if (c.muted || (!c.ends[0].wants && !c.ends[1].wants)) return;
  if (c.ends[0].up) lose(rail, std::min(a, b), std::max(a, b));
  if (c.ends[1].up) lose(rail, std::max(a, b), std::min(a, b));
  if (!c.ends[0].wants || !c.ends[1].wants) return;
  for (auto& e : c.ends) e = {.up = true, .wants = false, .coming = {}};
  for (const auto& [whose, other] : {key{a, b}, key{b, a}})
    drivers_[{rail, whose}]->tell({.kind = rails::event_kind::restored, .peer = peer_of(other)});
}

cables::driver::driver(cables& net, std::uint32_t rail, std::uint32_t self)
    : net_(net), rail_(rail), self_(self) {
  net_.drivers_[{rail, self}] = this;
}

rails::limits cables::driver::query() const noexcept {
  return {.name = "cable",
          .header_bytes_max = 64,
          .eager_bytes_max = 4096,
          .latency_ns = 1000,
          .severable = true};
}

base::result<> cables::driver::connect(rails::peer_id peer, std::span<const std::byte>) {
  others_.push_back(static_cast<std::uint32_t>(peer));
  return {};
}

rails::post cables::driver::send(rails::peer_id peer, const rails::packet& what) noexcept {
  const std::lock_guard guard(net_.lock_);
  const auto other = static_cast<std::uint32_t>(peer);
  if (!net_.end_of(rail_, self_, other).up) return rails::post::down;
  auto& coming = net_.end_of(rail_, other, self_).coming;
  if (net_.chance(4) || coming.size() >= in_flight_max) return rails::post::retry;
  std::vector<std::byte> bytes(what.header.begin(), what.header.end());
  bytes.insert(bytes.end(), what.payload.begin(), what.payload.end());
  parcel p{std::move(bytes), static_cast<std::uint32_t>(what.landing), what.offset};
  if (net_.doubles && p.zone == 0 && net_.chance(4)) coming.push_back(p);
  coming.push_back(std::move(p));
  if (what.payload.empty() || net_.chance(2)) return rails::post::done;
  events_.push_back({.kind = rails::event_kind::sent, .peer = peer, .cookie = what.cookie});
  return rails::post::posted;
}

bool cables::driver::land(rails::peer_id, rails::landing_id id,
                          std::span<std::byte> target) noexcept {
  const std::lock_guard guard(net_.lock_);
  if (net_.chance(4)) return false;
  zones_[static_cast<std::uint32_t>(id)] = target;
  return true;
}

void cables::driver::unland(rails::landing_id id) noexcept {
  const std::lock_guard guard(net_.lock_);
  zones_.erase(static_cast<std::uint32_t>(id));
}

std::size_t cables::driver::reap(std::span<rails::event> out) noexcept {
  const std::lock_guard guard(net_.lock_);
  std::size_t count = 0;
  held_.clear();
  while (count < out.size() && !events_.empty()) {
    out[count++] = events_.front();
    events_.pop_front();
  }
  for (const auto other : others_) {
    auto& coming = net_.end_of(rail_, self_, other).coming;
    if (net_.between(rail_, self_, other).muted) continue;
    while (count < out.size() && !coming.empty() && !net_.chance(3)) {
      held_.push_back(std::move(coming.front()));
      coming.pop_front();
      const parcel& p = held_.back();
      rails::event e{.peer = peer_of(other), .bytes = p.bytes};
      if (p.zone != 0) {
        const auto zone = zones_.find(p.zone);
        if (zone == zones_.end()) continue;
        std::memcpy(zone->second.data() + p.offset, p.bytes.data(), p.bytes.size());
        e.kind = rails::event_kind::landed;
        e.landing = static_cast<rails::landing_id>(p.zone);
        e.count = p.bytes.size();
      }
      out[count++] = e;
    }
  }
  return count;
}

void cables::driver::sever(rails::peer_id peer) noexcept {
  const std::lock_guard guard(net_.lock_);
  const auto other = static_cast<std::uint32_t>(peer);
  net_.lose(rail_, self_, other);
  if (!net_.between(rail_, self_, other).muted) net_.lose(rail_, other, self_);
}

void cables::driver::revive(rails::peer_id peer) noexcept {
  const std::lock_guard guard(net_.lock_);
  const auto other = static_cast<std::uint32_t>(peer);
  auto& e = net_.end_of(rail_, self_, other);
  if (e.up) return;
  e.wants = true;
  net_.meet(rail_, self_, other);
}

processes::processes(std::uint32_t count, std::uint32_t rails, std::uint32_t seed) : net(seed) {
  machine_ = topology::machine::read().value();
  const std::vector<std::optional<std::vector<std::byte>>> addresses(rails,
                                                                     std::vector<std::byte>(1));
  for (std::uint32_t i = 0; i < count; ++i) {
    one p;
    p.engine = progress::engine::start(*machine_, {.points = progress::polling::off}).value();
    p.peers = std::make_unique<packets::peers>(*p.engine, count, peer_of(i));
    for (std::uint32_t r = 0; r < rails; ++r)
      p.peers->add_rail(std::make_unique<cables::driver>(net, r, i));
    for (std::uint32_t j = 0; j < count; ++j)
      if (j != i) {
        EXPECT_TRUE(p.peers->connect(peer_of(j), addresses));
      }
    p.messages = std::make_unique<messages::exchange>(*p.peers, *p.engine);
    all_.push_back(std::move(p));
  }
}

/// One after the other would wait for the rest, which nobody polls any more.
processes::~processes() {
  const auto until = base::now_ns() + 50'000'000;
  while (base::now_ns() < until) poll();
}

void processes::poll() {
  for (auto& p : all_) p.engine->poll();
}

messages::context* processes::open(std::size_t i, std::uint32_t id) {
  std::vector<std::uint32_t> ranks(all_.size());
  for (std::uint32_t j = 0; j < all_.size(); ++j) ranks[j] = j;
  return at(i).open_context(id, static_cast<int>(i), ranks);
}

}  // namespace headway::packets::testing
