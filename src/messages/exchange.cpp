#include "messages/exchange.hpp"

#include <mutex>

#include "base/assert.hpp"
#include "messages/parts.hpp"
#include "packets/tunables.hpp"

namespace headway::messages {

namespace {

/// A call's stay in the library, where there is one lock for all of it.
class stay {
 public:
  explicit stay(const exchange_parts& parts) noexcept
      : engine_(parts.coarse ? &parts.engine : nullptr) {
    if (engine_) [[unlikely]]
      engine_->enter();
  }
  ~stay() {
    if (engine_) [[unlikely]]
      engine_->leave();
  }
  stay(const stay&) = delete;
  stay& operator=(const stay&) = delete;

 private:
  progress::engine* const engine_;
};

}  // namespace

exchange::exchange(packets::peers& peers, progress::engine& engine)
    : parts_(std::make_unique<exchange_parts>(peers, engine)) {
  peers.start(*parts_);
}

exchange::~exchange() {
  parts_->peers.stop();
  static_cast<void>(parts_->engine.cancel(parts_->landing_retry_));  // for those still `awaiting`
}

progress::engine& exchange::engine() noexcept { return parts_->engine; }

context* exchange::open_context(std::uint32_t id, int self, std::vector<std::uint32_t> world_ranks,
                                bool collective) {
  HEADWAY_ASSERT(id < context_ids);
  std::vector<packets::peer*> ranks;
  ranks.reserve(world_ranks.size());
  for (const auto world_rank : world_ranks) ranks.push_back(&parts_->peers.at(world_rank));
  auto* where =
      new context(*parts_, static_cast<std::uint16_t>(id), self, std::move(ranks), collective);
  for (const auto* p : where->ranks) where->lost_ranks += p->lost();
  parts_->enter(where->id, where);
  return where;
}

void exchange::close_context(context* where) noexcept {
  parts_->enter(where->id, nullptr);
  // A reaper may have found it just before: when an ltask has run, that round is over.
  struct last_round : progress::ltask {
    last_round() noexcept
        : ltask("close context", &last_round::run, progress::ltask_kind::one_shot) {}
    static progress::ltask_result run(ltask& self) noexcept {
      static_cast<last_round&>(self).over.complete();
      return progress::ltask_result::done;
    }
    progress::completion over;
  };
  last_round round;
  parts_->engine.submit(round);
  parts_->engine.wait(round.over);
  delete where;
}

bool exchange::use_strategy(context& where, std::string_view name) noexcept {
  const auto* found = packets::find_strategy(name);
  if (found) where.how.store(found, std::memory_order_relaxed);
  return found != nullptr;
}

std::string_view exchange::strategy_of(const context& where) noexcept {
  const auto* chosen = where.how.load(std::memory_order_relaxed);
  const auto* how = chosen ? chosen : &packets::default_strategy();
  for (const auto& known : packets::known_strategies())
    if (known.how == how) return known.name;
  return {};
}

std::vector<std::string_view> exchange::strategy_names() {
  std::vector<std::string_view> names;
  for (const auto& known : packets::known_strategies()) names.push_back(known.name);
  return names;
}

void exchange::send(context& where, request& r, std::span<const std::byte> data, int destination,
                    int tag, send_mode mode) noexcept {
  HEADWAY_DEBUG_ASSERT(destination >= 0 &&
                       static_cast<std::size_t>(destination) < where.ranks.size());
  const stay inside(*parts_);
  packets::peer& to = *where.ranks[static_cast<std::size_t>(destination)];
  r.aim(where, data, destination);
  r.tag_ = tag;
  r.from_ = &to;
  r.arrived = {.source = destination, .tag = tag, .bytes = data.size()};
  if (mode == send_mode::synchronous || data.size() > to.eager_bytes_max()) {
    parts_->start_offer(to, r);
    return;
  }
  packets::outgoing& out = r;
  write_head(out, envelope{.kind = wire_kind::eager,
                           .given_up = mode == send_mode::give_up,
                           .context = where.id,
                           .source = static_cast<std::uint32_t>(where.self),
                           .tag = tag});
  out.payload = data;
  out.charge = eager_charge(data.size());
  out.answered = false;
  out.landing = rails::landing_id::none;
  out.how = where.how.load(std::memory_order_relaxed);
  out.sent = &exchange_parts::payload_sent;
  out.demote = &exchange_parts::demote;
  r.stage_ = request::stage::sending;
  const bool later = parts_->offloads && r.background;  // a blocking call gains nothing by it
  switch (later ? to.post_later(out) : to.post(out)) {
    case packets::posted::done:
      parts_->complete_at_once(r);
      break;
    case packets::posted::pending:
      break;
    case packets::posted::down:
      parts_->fail(r, outcome::peer_lost);
      break;
  }
}

void exchange::receive(context& where, request& r, std::span<std::byte> room, int source,
                       int tag) noexcept {
  const stay inside(*parts_);
  r.aim(where, room, source);
  r.tag_ = tag;
  const matcher::pattern wanted{source, tag};
  parked* message = nullptr;
  bool hopeless = false, counted = false;
  {
    const std::lock_guard guard(where.lock);
    message = where.waiting.find_parked(wanted);
    if (message) {
      where.waiting.remove_parked(*message);
    } else if (where.hopeless(source)) {
      hopeless = true;
    } else {
      counted = r.counted_ = r.background;
      if (counted) parts_->engine.pending_counted();
      r.stage_ = request::stage::posted;
      where.waiting.post(r, wanted);
    }
  }
  if (counted) parts_->engine.pending_told();  // `r` may be gone
  if (message) {
    parts_->receive_parked(r, *message);
  } else if (hopeless) {
    r.arrived = {.source = source, .tag = tag};
    parts_->fail(r, outcome::peer_lost);
  }
}

void exchange::cancel(request& r) noexcept {
  if (r.test()) return;
  const stay inside(*parts_);
  context& where = *r.where_;
  {
    const std::lock_guard guard(where.lock);
    if (r.stage_ != request::stage::posted) return;
    where.waiting.withdraw(r, {r.peer_rank_, r.tag_});
    r.stage_ = request::stage::fresh;
  }
  r.arrived = {.source = r.peer_rank_, .tag = r.tag_};
  parts_->fail(r, outcome::cancelled);
}

bool exchange::probe(context& where, int source, int tag, arrival& found) noexcept {
  for (int attempt = 0; attempt < 2; ++attempt) {
    {
      const std::lock_guard guard(where.lock);
      if (const parked* message = where.waiting.find_parked({source, tag})) {
        found = {.source = message->source, .tag = message->tag, .bytes = message->bytes};
        return true;
      }
      if (where.hopeless(source)) {
        found = {.source = source, .tag = tag, .how = outcome::peer_lost};
        return true;
      }
    }
    if (attempt == 0) parts_->engine.poll();
  }
  return false;
}

parked* exchange::probe_matched(context& where, int source, int tag, arrival& found) noexcept {
  while (probe(where, source, tag, found) && found.how == outcome::ok) {
    const std::lock_guard guard(where.lock);
    parked* message = where.waiting.find_parked({source, tag});
    if (!message) continue;  // another thread was faster
    where.waiting.remove_parked(*message);
    found = {.source = message->source, .tag = message->tag, .bytes = message->bytes};
    return message;
  }
  return nullptr;
}

void exchange::await_message(context& where, int source, int tag) noexcept {
  context::watch watch({source, tag});
  {
    const std::lock_guard guard(where.lock);
    if (where.waiting.find_parked(watch.wanted) || where.hopeless(source)) return;
    where.watches.push_back(watch);
  }
  parts_->engine.wait(watch);
}

void exchange::receive_parked(context& where, request& r, parked* message,
                              std::span<std::byte> room) noexcept {
  r.aim(where, room, message->source);
  r.tag_ = message->tag;
  parts_->receive_parked(r, *message);
}

std::optional<rails::landing_id> exchange::open_zone(context& where, request& r,
                                                     std::span<std::byte> room,
                                                     int source) noexcept {
  const stay inside(*parts_);
  r.aim(where, room, source);
  r.arrived = {.source = source};
  return parts_->open_zone(*where.ranks[static_cast<std::size_t>(source)], r);
}

void exchange::expect(request& r, std::size_t bytes) noexcept { parts_->expect(r, bytes); }

request* exchange::close_zone(context& where, rails::landing_id zone, int source) noexcept {
  return parts_->close_zone(*where.ranks[static_cast<std::size_t>(source)], zone);
}

void exchange::send_to_zone(context& where, request& r, std::span<const std::byte> data,
                            int destination, rails::landing_id zone) noexcept {
  const stay inside(*parts_);
  packets::peer& to = *where.ranks[static_cast<std::size_t>(destination)];
  r.aim(where, data, destination);
  r.from_ = &to;
  r.arrived = {.source = destination, .bytes = data.size()};
  parts_->send_to_zone(to, r, zone);
}

}  // namespace headway::messages
