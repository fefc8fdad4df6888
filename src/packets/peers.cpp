#include "packets/peers.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "packets/rail.hpp"

namespace headway::packets {
namespace {

bool in_use(const rail& r) noexcept {
  return r.when == rail_use::from_start || r.peer_count.load(std::memory_order_relaxed) > 0 ||
         r.called.load(std::memory_order_relaxed);  // a hint
}

}  // namespace

peers::peers(progress::engine& engine, rails::peer_id self, router& routes, const settings& chosen)
    : engine_(engine),
      self_(self),
      settings_(chosen),
      router_(routes),
      large_(engine),
      set_(engine, large_, chosen.cut_off_ns),
      stalled_(engine),
      nudge_(engine, engine.chosen().offload) {
  HEADWAY_ASSERT(chosen.processes > 0 && chosen.how);
}

peers::~peers() { stop(); }

void peers::add_rail(std::unique_ptr<rails::driver> driver, rail_use when) {
  const base::lock_guard guard(creation_lock_);
  HEADWAY_ASSERT(!started_ && driver);
  const rail_host host{
      .peers = *this, .engine = engine_, .large = large_, .set = set_, .stalled = stalled_};
  rails_.push_back(std::make_unique<rail>(host, rails_.size(), std::move(driver), when));
}

// ---- a peer's first use -------------------------------------------------------------------------

peer_state& peers::first_use(rails::peer_id id) noexcept {
  if (const auto done = use(id); !done)
    base::log(base::severity::error, "peer {} is not reached: {}", static_cast<std::uint32_t>(id),
              done.error().text);
  return *table_.find(static_cast<std::uint32_t>(id));
}

base::result<> peers::use(rails::peer_id id) {
  const base::lock_guard guard(creation_lock_);
  if (find(id)) return {};
  return make(id);
}

/// Without memory for its rails, the operations with this peer end with an error.
base::result<> peers::route(rails::peer_id id) {
  try {
    return router_.route(*this, id);
  } catch (const std::bad_alloc&) {
    return base::failed(base::fault_kind::no_memory, "out of memory");
  }
}

base::result<> peers::make(rails::peer_id id) {
  const peer_state::services shared{
      .engine = engine_, .above = above_, .large = large_, .stalled = stalled_, .nudge = nudge_};
  auto& made = *made_.emplace_back(std::make_unique<peer_state>(shared, id, settings_));
  in_the_making_ = &made;
  auto done =
      stopped_ ? base::failed(base::fault_kind::peer_lost, "communication has ended") : route(id);
  in_the_making_ = nullptr;
  HEADWAY_ASSERT(!made.bundle() || made.bundle()->lanes().count() > 1);
  if (done && !made.reached())
    done = base::failed(base::fault_kind::unsupported, "its rails were not looked up");
  if (!done) {
    made.refuse();
    refused_.push_back(&made);
  }
  table_.put(static_cast<std::uint32_t>(id), made);
  if (made.bundle()) set_.add(*made.bundle());
  return done;
}

base::result<std::size_t> peers::connect(
    rails::peer_id id, std::span<const std::optional<std::vector<std::byte>>> addresses,
    std::span<const std::size_t> turns) {
  creation_lock_.assert_held();  // by `use`, which calls the router
  HEADWAY_ASSERT(in_the_making_ && in_the_making_->id() == id);
  HEADWAY_ASSERT(turns.empty() || turns.size() == addresses.size());
  if (calling_rail_) return admit(*in_the_making_, *calling_rail_, addresses);
  HEADWAY_ASSERT(!in_the_making_->reached());
  const auto reaching = connect_rails(id, addresses, turns);
  if (!reaching) return std::unexpected(reaching.error());
  const auto& rails = reaching->rails;
  if (rails.size() > 1) {
    bundle_up(*in_the_making_, rails);
  } else {
    resume_if_cut(id, *rails_[rails.front()]);
    in_the_making_->reached_over(way_over(rails.front()), settings_);
  }
  for (const auto i : rails) count_peer(id, *rails_[i]);
  if (started_) order_rails();
  return rails.size();
}

void peers::count_peer(rails::peer_id id, rail& r) {
  r.peer_count.fetch_add(1, std::memory_order_relaxed);  // a count
  r.used_by_others |= id != self_;
  if (started_) put_to_work(r);
}

/// No other rail could send again what is lost with a connection: its driver does.
void peers::resume_if_cut(rails::peer_id id, rail& r) noexcept {
  if (auto* const health = r.driver().health()) health->resume_if_cut(id);
}

base::result<peers::reaching_rails> peers::connect_rails(
    rails::peer_id id, std::span<const std::optional<std::vector<std::byte>>> addresses,
    std::span<const std::size_t> turns) {
  reaching_rails found;
  auto& reaching = found.rails;
  base::fault why{base::fault_kind::unsupported,
                  fmt::format("no rail reaches peer {}", static_cast<std::uint32_t>(id))};
  const auto candidates = in_turn(addresses, turns);
  const auto severable = std::ranges::count_if(
      candidates, [&](std::size_t i) { return rails_[i]->driver().health() != nullptr; });
  const bool may_bundle = severable > 1 && settings_.rails_per_peer > 1;
  for (const auto i : candidates) {
    auto& driver = rails_[i]->driver();
    // When a rail that cannot be cut reaches the peer, no other rail is added.
    if (!reaching.empty() && !driver.health()) continue;
    // Before the driver knows the peer, so that the first packet from it is already handled as a
    // frame of a bundle.
    if (may_bundle && driver.health())
      rails_[i]->bundled.store(true, std::memory_order_relaxed);  // `connect` orders it
    const auto connected = driver.connect(id, *addresses[i]);
    if (!connected && connected.error().kind != base::fault_kind::unsupported) {
      why = connected.error();
      if (driver.health()) break;
      found.fallen_back = true;
      continue;
    }
    if (!connected) continue;
    reaching.push_back(i);
    const bool enough = found.fallen_back || reaching.size() == settings_.rails_per_peer;
    if (!driver.health() || enough) break;
  }
  if (reaching.empty() || (!found.fallen_back && why.kind != base::fault_kind::unsupported))
    return std::unexpected(std::move(why));
  if (found.fallen_back)
    base::log(base::severity::warning, "peer {} is reached over {}: {}",
              static_cast<std::uint32_t>(id), rails_[reaching.front()]->driver().query().name,
              why.text);
  return found;
}

void peers::called(rails::peer_id id, std::size_t rail_index) noexcept {
  auto& p = state_of(id);
  if (!p.sent_over_another(rail_index)) return;
  const base::lock_guard guard(creation_lock_);
  in_the_making_ = &p;
  calling_rail_ = rail_index;
  const auto done = route(id);
  calling_rail_.reset();
  in_the_making_ = nullptr;
  if (done) return;
  base::log(base::severity::error, "nothing is received from peer {} over {}: {}",
            static_cast<std::uint32_t>(id), rails_[rail_index]->driver().query().name,
            done.error().text);
  refused_.push_back(&p);
}

base::result<std::size_t> peers::admit(
    peer_state& p, std::size_t rail_index,
    std::span<const std::optional<std::vector<std::byte>>> addresses) {
  auto& from = *rails_[rail_index];
  if (rail_index >= addresses.size() || !addresses[rail_index])
    return base::failed(base::fault_kind::unsupported, "it has no such rail");
  // Before the driver reports what the peer has sent.
  if (from.driver().health()) p.carry_large_over(way_over(rail_index));
  if (auto done = from.driver().admit(p.id(), *addresses[rail_index]); !done)
    return std::unexpected(std::move(done).error());
  resume_if_cut(p.id(), from);
  count_peer(p.id(), from);
  return 1;
}

/// The rails that may reach a peer: first those that cannot be cut, then the others in the order of
/// `turns`, so that both ends choose the same ones when there are too many.
std::vector<std::size_t> peers::in_turn(
    std::span<const std::optional<std::vector<std::byte>>> addresses,
    std::span<const std::size_t> turns) const {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < rails_.size() && i < addresses.size(); ++i)
    if (addresses[i]) all.push_back(i);
  std::ranges::stable_sort(all, {}, [&](std::size_t i) {
    const bool severable = rails_[i]->driver().health() != nullptr;
    return std::pair(severable, severable && !turns.empty() ? turns[i] : 0);
  });
  return all;
}

single_rail::way peers::way_over(std::size_t rail_index) const noexcept {
  auto& via = *rails_[rail_index];
  const bool costly = via.driver().query().poll_cost_ns >= rail::costly_ns;
  return {.via = &via.driver(),
          .index = rail_index,
          .departures = via.driver().health() ? &via.departures : nullptr,
          .unsent = via.unsent(),
          .collects = costly || settings_.collect_always,
          .unwatched = settings_.collect_always};
}

void peers::bundle_up(peer_state& p, std::span<const std::size_t> in_order) {
  auto& made = p.reached_over_several(set_, settings_);
  for (const auto i : in_order)
    made.add_lane(rails_[i]->driver(), i,
                  {.load = rails_[i]->load, .departures = rails_[i]->departures});
  p.open_bundle();
  if (std::exchange(set_watched_, true) || !started_) return;
  engine_.add_source(set_);
}

void peers::know(rails::peer_id id, std::size_t rail_index, const sampling::profile& known) {
  creation_lock_.assert_held();  // by `use`, which calls the router
  HEADWAY_ASSERT(in_the_making_ && in_the_making_->id() == id);
  HEADWAY_ASSERT(rail_index < rails_.size());
  in_the_making_->know(rail_index, known);
}

std::optional<sampling::profile> peers::learnt(rails::peer_id id,
                                               std::size_t rail_index) const noexcept {
  const peer_state* p = table_.find(static_cast<std::uint32_t>(id));
  return p && p->bundle() ? p->bundle()->learnt(rail_index) : std::nullopt;
}

// ---- start and end ------------------------------------------------------------------------------

void peers::start(receiver& above) {
  const base::lock_guard guard(creation_lock_);
  HEADWAY_ASSERT(!started_ && !stopped_);
  above_.first = &above;
  for (auto& r : rails_) put_to_work(*r);
  order_rails();
  if (set_watched_) engine_.add_source(set_);
  engine_.add_tick(&peers::tick, this);
  started_ = true;
}

void peers::put_to_work(rail& r) {
  if (!in_use(r) || std::exchange(r.at_work, true)) return;
  engine_.submit(r);
  engine_.add_source(r);
}

/// Sets `nearer_in_use` of each rail.
void peers::order_rails() noexcept {
  bool nearer_in_use = false;
  for (auto& r : rails_) {
    r->nearer_in_use.store(nearer_in_use, std::memory_order_relaxed);  // a hint
    nearer_in_use |= r->used_by_others;
  }
}

void peers::stop() noexcept {
  bool watched = false;
  {
    const base::lock_guard guard(creation_lock_);
    stopped_ = true;  // no peer is connected from now on
    if (!std::exchange(started_, false)) return;
    watched = set_watched_;
  }
  send_collected();
  finish_bundles();
  set_.each([](packets::bundle& b) { b.end_help(); });
  engine_.remove_tick(&peers::tick, this);
  if (watched) engine_.remove_source(set_);
  for (auto& r : rails_) {
    if (!r->at_work) continue;
    engine_.remove_source(*r);
    engine_.cancel(*r);
  }
  nudge_.stop();
  for (std::size_t i = 0; peer_state* const p = made(i); ++i) p->stop();
  large_.stop();
  for (auto& r : rails_) r->driver().close();
  end_posted();
}

/// The rails are closed, and no other thread is here any more. By index, because a callback may use
/// a new peer.
void peers::end_posted() noexcept {
  for (auto& r : rails_)
    if (r->at_work) r->end_posted();
  for (std::size_t i = 0; peer_state* const p = made(i); ++i) p->end();
  stalled_.clear();
}

/// Collected packets were reported as sent. By index, because a polling round may use a new peer.
void peers::send_collected() noexcept {
  constexpr std::uint64_t patience_ns = 1'000'000'000;
  const auto until_ns = engine_.clock().now_ns() + patience_ns;
  for (std::size_t i = 0; peer_state* const p = made(i); ++i)
    while (!p->send_collected() && engine_.clock().now_ns() < until_ns)
      if (!engine_.poll()) sched_yield();
}

/// Waits, before the rails close, for what is under way: the peer may still need our
/// acknowledgement, or a frame again. A peer that has closed its rails already does not answer.
void peers::finish_bundles() noexcept {
  constexpr std::uint64_t patience_ns = 1'000'000'000;
  if (!set_.any()) return;
  set_.finishing.store(true, std::memory_order_relaxed);
  const auto until_ns = engine_.clock().now_ns() + patience_ns;
  const auto any_unfinished = [&] {
    bool any = false;
    set_.each([&](const bundle& b) { any |= !b.at_rest(); });
    return any;
  };
  while (any_unfinished() && engine_.clock().now_ns() < until_ns) {
    set_.hurry();
    if (!engine_.poll()) sched_yield();
  }
}

peer_state* peers::made(std::size_t index) const noexcept {
  const base::lock_guard guard(creation_lock_);
  return index < made_.size() ? made_[index].get() : nullptr;
}

std::optional<lane_use> peers::use_of(std::size_t rail_index) const noexcept {
  std::optional<lane_use> sum;
  const base::lock_guard guard(creation_lock_);
  for (const auto& p : made_) {
    const lane* l = p->bundle() ? p->bundle()->lanes().on_rail(rail_index) : nullptr;
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
  return rails_[rail_index]->peer_count.load(std::memory_order_relaxed);  // a count
}

void peers::tell_refused() noexcept {
  std::vector<peer_state*> due;
  {
    if (!creation_lock_.try_lock()) return;
    const base::lock_guard guard(creation_lock_, std::adopt_lock);
    due.swap(refused_);
  }
  for (auto* p : due) p->lose();
}

/// A process that cannot use the rail that this one would use calls over another.
void peers::answer_calls(rail& r) noexcept {
  if (!r.is_called() || !creation_lock_.try_lock()) return;
  const base::lock_guard guard(creation_lock_, std::adopt_lock);
  r.called.store(true, std::memory_order_relaxed);  // a hint
  if (started_) put_to_work(r);
}

void peers::tick(void* self) noexcept {
  auto& all = *static_cast<peers*>(self);
  const auto now = all.engine_.clock().now_ns();
  all.tell_refused();
  all.set_.tick();
  all.large_.hurry();  // a program may compute for long without a call
  for (auto& r : all.rails_) {
    if (in_use(*r)) r->driver().tick(now);
    else all.answer_calls(*r);
  }
}

}  // namespace headway::packets
