#include "messages/exchange.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "messages/parts.hpp"

namespace headway::messages {

exchange::exchange(packets::peers& peers, progress::engine& engine)
    : parts_(std::make_unique<exchange_parts>(peers, engine)) {
  peers.start(*parts_);
  parts_->sources_.start();
}

exchange::~exchange() {
  parts_->sources_.stop();
  parts_->peers.stop();
  parts_.reset();  // with the messages that were never received
  free_kept_memory();
}

progress::engine& exchange::engine() noexcept { return parts_->engine; }

context* exchange::open_context(const context_name& name, int self,
                                processes::membership_ref members, bool collective) {
  HEADWAY_ASSERT(name.number < contexts_max && members && self >= 0);
  HEADWAY_ASSERT(self < ranks_max && members->size() < ranks_max && !members->empty());
  auto* where = new context(*parts_, name, self, std::move(members), collective);
  parts_->enter(where->id, where);
  // After `enter`: a member that is lost from now on is reported to the context.
  bool has_lost = false;
  for (int rank = 0; rank < where->members->size(); ++rank) has_lost |= where->lost(rank);
  const base::lock_guard guard(where->lock);
  where->has_lost |= has_lost;
  return where;
}

void exchange::close_context(context* where) noexcept {
  HEADWAY_ASSERT(where && &where->parts == parts_.get());
  parts_->enter(where->id, nullptr);
  // A reaper may have found the context just before; once a new ltask has run, that round is over.
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

void exchange::use_expectation(context& where,
                               bool (*expects)(const void* owner, int source) noexcept) noexcept {
  HEADWAY_ASSERT(where.collective);
  where.expects.store(expects, std::memory_order_relaxed);
}

operation_log& exchange::log_of(context& where) noexcept {
  HEADWAY_ASSERT(where.collective);
  return *where.log;
}

void exchange::use_member(context& where, int rank) noexcept {
  static_cast<void>(where.peer_of(rank));
}

bool exchange::use_strategy(context& where, std::string_view name) noexcept {
  const auto* found = packets::find_strategy(name);
  if (found) where.how.store(found, std::memory_order_relaxed);
  return found != nullptr;
}

void exchange::set_urgent(context& where, bool is) noexcept {
  where.passes_others.store(is, std::memory_order_relaxed);
}

bool exchange::is_urgent(const context& where) noexcept {
  return where.passes_others.load(std::memory_order_relaxed);
}

std::string_view exchange::strategy_of(const context& where) noexcept {
  const auto* chosen = where.how.load(std::memory_order_relaxed);
  const auto* how = chosen ? chosen : where.parts.peers.chosen().how;
  return packets::name_of(*how);
}

std::vector<std::string_view> exchange::strategy_names() {
  std::vector<std::string_view> names;
  for (const auto& known : packets::known_strategies()) names.push_back(known.name);
  return names;
}

void exchange::keep_times() noexcept { parts_->keeps_times.store(true, std::memory_order_relaxed); }

exchange::waiting_counts exchange::count_waiting(context& where) noexcept {
  const base::lock_guard guard(where.lock);
  return where.waiting.count();
}

void exchange::send(context& where, request& r, std::span<const std::byte> data, int destination,
                    label as, send_mode mode) noexcept {
  HEADWAY_DEBUG_ASSERT(destination >= 0 && destination < where.members->size());
  HEADWAY_DEBUG_ASSERT(as.tag != any_tag);
  HEADWAY_DEBUG_ASSERT(&where.parts == parts_.get());
  const coarse_lock held(*parts_);
  packets::peer& to = where.peer_of(destination);
  r.aim(where, data, destination);
  r.tag_ = as.tag;
  r.history_ = as.history;
  r.with = &to;
  r.lends = r.reclaims && data.size() >= to.lent_bytes_min();
  r.arrived = {.source = destination, .tag = as.tag, .bytes = data.size()};
  // Not if the call does not block: the program may start other sends next, which would wait while
  // these bytes are copied.
  const bool may_go_whole = mode == send_mode::standard && !r.background;
  const bool eager =
      data.size() <= to.eager_bytes_max() || (may_go_whole && to.takes_whole(data.size()));
  if (mode == send_mode::synchronous || !eager) {
    parts_->start_rts(to, r);
    return;
  }
  packets::send_item& out = r;
  write_head(out, envelope{.kind = wire_kind::eager,
                           .given_up = mode == send_mode::give_up,
                           .context = where.id,
                           .source = source_of(where.self, as.history),
                           .tag = as.tag});
  out.payload = data;
  out.in_parts = mode == send_mode::standard;
  out.can_wait = !where.collective;  // the messages of an operation may let its next ones leave
  out.lent = r.lends;
  out.charge = eager_charge(data.size());
  out.answered = false;
  out.how = where.how.load(std::memory_order_relaxed);
  where.give_priority(out);
  out.sent = &exchange_parts::payload_sent;
  out.fall_back_to_rts = &exchange_parts::fall_back_to_rts;
  const bool later = parts_->offloads && r.background;  // a blocking call gains nothing
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

bool exchange::send_now(context& where, std::span<const std::byte> data, int destination,
                        int tag) noexcept {
  HEADWAY_DEBUG_ASSERT(destination >= 0 && destination < where.members->size());
  packets::peer& to = where.peer_of(destination);
  if (data.size() > std::min(to.prompt_bytes_max(), prompt_bytes_max) || parts_->offloads)
    return false;
  const coarse_lock held(*parts_);
  envelope head{.context = where.id, .source = source_of(where.self, 0), .tag = tag};
  return to.post_now({.head = std::as_writable_bytes(std::span(&head, 1)),
                      .payload = data,
                      .charge = eager_charge(data.size()),
                      .can_wait = !where.collective});
}

void exchange::end_unsent(request& r) noexcept {
  HEADWAY_DEBUG_ASSERT(!r.posted_ && !r.counted_);
  r.arrived.how = outcome::failed;
  parts_->complete_at_once(r);
}

void exchange::receive(context& where, request& r, std::span<std::byte> memory, int source,
                       label as) noexcept {
  HEADWAY_DEBUG_ASSERT(source == any_source || (0 <= source && source < where.members->size()));
  const coarse_lock held(*parts_);
  const int tag = as.tag;
  r.aim(where, memory, source);
  r.tag_ = tag;
  r.history_ = as.history;
  const matcher::pattern wanted{static_cast<int>(source_of(source, as.history)), tag};
  where.lock.lock();
  unexpected_message* const message = where.waiting.find_unexpected(wanted);
  if (message || where.hopeless(source) || where.gave_up(tag)) [[unlikely]]
    return parts_->receive_at_once(where, r, message);
  const bool counted = where.post(r, wanted);
  if (counted) parts_->engine.pending_counted();
  else if (r.counted_) parts_->engine.pending_joined();
  const bool bins_short = r.oldest && where.waiting.bins_wanted() != 0;  // a new key
  where.lock.unlock();
  if (bins_short) [[unlikely]]
    where.widen();
  if (counted) parts_->engine.pending_told();  // `r` may be gone
}

// ---- data that is not one block -----------------------------------------------------------------

void exchange::send(context& where, request& r, scattered_memory& data, int destination, int tag,
                    send_mode mode) noexcept {
  HEADWAY_DEBUG_ASSERT(destination >= 0 && destination < where.members->size());
  HEADWAY_DEBUG_ASSERT(tag != any_tag);
  packets::peer& to = where.peer_of(destination);
  const auto bytes = data.bytes();
  if (mode != send_mode::synchronous && bytes <= to.eager_bytes_max() &&
      bytes <= scattered_memory::packed_bytes_max) {
    r.scattered = nullptr;
    return send(where, r, data.pack(0, bytes), destination, tag, mode);
  }
  const coarse_lock held(*parts_);
  r.aim(where, {}, destination);
  r.scattered = &data;
  r.tag_ = tag;
  r.history_ = 0;
  r.with = &to;
  r.arrived = {.source = destination, .tag = tag, .bytes = bytes};
  parts_->start_rts(to, r);
}

void exchange::receive(context& where, request& r, scattered_memory& memory, int source,
                       int tag) noexcept {
  r.scattered = &memory;
  receive(where, r, std::span<std::byte>{}, source, tag);
}

void exchange::cancel(request& r) noexcept {
  if (r.test()) return;
  const coarse_lock held(*parts_);
  context& where = *r.where_;
  {
    const base::lock_guard guard(where.lock);
    if (!r.posted_) return;
    where.waiting.withdraw(r);
    where.taken(r);
  }
  r.arrived = {.source = r.peer_rank_, .tag = r.tag_};
  parts_->fail(r, outcome::cancelled);
}

bool exchange::probe(context& where, int source, int tag, arrival& found) noexcept {
  HEADWAY_DEBUG_ASSERT(source == any_source || (0 <= source && source < where.members->size()));
  for (int attempt = 0; attempt < 2; ++attempt) {
    {
      const base::lock_guard guard(where.lock);
      if (const unexpected_message* message = where.waiting.find_unexpected({source, tag})) {
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

unexpected_message* exchange::probe_matched(context& where, int source, int tag,
                                            arrival& found) noexcept {
  while (probe(where, source, tag, found) && found.how == outcome::ok) {
    const base::lock_guard guard(where.lock);
    unexpected_message* message = where.waiting.find_unexpected({source, tag});
    if (!message) continue;  // another thread took it
    where.waiting.remove_unexpected(*message);
    found = {.source = message->source, .tag = message->tag, .bytes = message->bytes};
    return message;
  }
  return nullptr;
}

void exchange::await_message(context& where, int source, int tag) noexcept {
  HEADWAY_DEBUG_ASSERT(source == any_source || (0 <= source && source < where.members->size()));
  context::watch watch({source, tag});
  {
    const base::lock_guard guard(where.lock);
    if (where.waiting.find_unexpected(watch.wanted) || where.hopeless(source)) return;
    where.watches.push_back(watch);
  }
  parts_->engine.wait(watch);
}

void exchange::receive_unexpected(context& where, request& r, unexpected_message* message,
                                  std::span<std::byte> memory) noexcept {
  HEADWAY_DEBUG_ASSERT(message && message->context == where.id);
  r.aim(where, memory, message->source);
  r.tag_ = message->tag;
  parts_->receive_unexpected(r, *message);
}

void exchange::receive_unexpected(context& where, request& r, unexpected_message* message,
                                  scattered_memory& memory) noexcept {
  r.scattered = &memory;
  receive_unexpected(where, r, message, std::span<std::byte>{});
}

}  // namespace headway::messages
