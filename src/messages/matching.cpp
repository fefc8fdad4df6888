#include "messages/matching.hpp"

#include <new>
#include <utility>

#include "base/assert.hpp"
#include "base/copy_between_cores.hpp"
#include "messages/kept_memory.hpp"
#include "messages/wire.hpp"

namespace headway::messages {
namespace {

constinit kept_memory memory_of_messages(sizeof(unexpected_message));

unexpected_message* allocate(std::size_t payload_bytes) noexcept {
  void* const memory = memory_of_messages.take(payload_bytes);
  if (!memory) return nullptr;
  auto* const message = new (memory) unexpected_message;
  message->room = payload_bytes;
  return message;
}

}  // namespace

unexpected_message* make_unexpected(packets::peer& from, const envelope& match,
                                    std::size_t bytes) noexcept {
  unexpected_message* message = allocate(bytes);
  if (!message) return nullptr;
  message->from = &from;
  message->context = match.context;
  message->source = rank_in(match.source);
  message->history = static_cast<std::uint16_t>(match.source >> rank_bits);
  message->tag = match.tag;
  message->given_up = match.given_up != 0;
  message->bytes = bytes;
  message->charge = eager_charge(bytes);
  return message;
}

unexpected_message* make_unexpected(packets::peer& from, const envelope& match,
                                    std::span<const std::byte> payload) noexcept {
  unexpected_message* message = make_unexpected(from, match, payload.size());
  if (message) base::copy_from_writer(message->data(), payload.data(), payload.size());
  return message;
}

unexpected_message* make_unexpected(packets::peer& from, const rts& announced) noexcept {
  unexpected_message* message = make_unexpected(from, announced.match, {});
  if (!message) return nullptr;
  message->is_rts = true;
  message->charge = 0;
  message->bytes = announced.bytes;
  message->announced = announced.message;
  return message;
}

void free_unexpected(unexpected_message* message) noexcept {
  const auto room = message->room;
  message->~unexpected_message();
  memory_of_messages.give_back(message, room);
}

void free_kept_memory() noexcept { memory_of_messages.clear(); }

matcher::matcher() noexcept {
  posted_.move_to(first_posted_);
  by_envelope_.move_to(first_by_envelope_);
  by_source_.move_to(first_by_source_);
  by_tag_.move_to(first_by_tag_);
}

matcher::~matcher() {
  while (unexpected_message* message = arrivals_.pop_front()) free_unexpected(message);
}

matcher::bins matcher::bins::make(std::size_t count) noexcept {
  bins made;
  made.posted.reset(new (std::nothrow) posted_index::bin[count]());
  made.envelopes.reset(new (std::nothrow) envelope_index::bin[count]());
  made.sources.reset(new (std::nothrow) source_index::bin[count]());
  made.tags.reset(new (std::nothrow) tag_index::bin[count]());
  if (made.posted && made.envelopes && made.sources && made.tags) made.count = count;
  return made;
}

void matcher::widen(bins& with) noexcept {
  if (with.count <= posted_.bins()) return;  // out of memory, or another thread did it already
  posted_.move_to({with.posted.get(), with.count});
  by_envelope_.move_to({with.envelopes.get(), with.count});
  by_source_.move_to({with.sources.get(), with.count});
  by_tag_.move_to({with.tags.get(), with.count});
  std::swap(wider_, with);
}

exchange::waiting_counts matcher::count() noexcept {
  exchange::waiting_counts found;
  static_cast<void>(any_posted([&](const request&) {
    ++found.posted;
    return false;
  }));
  for (auto* m = arrivals_.front(); m; m = arrivals_.after(*m)) ++found.unexpected;
  return found;
}

// ---- posted receives ----------------------------------------------------------------------------

request* matcher::take_oldest_of_all(int source, int tag) noexcept {
  request* first = posted_.oldest(key_of(source, tag));
  for (const auto key :
       {key_of(any_source, tag), key_of(source, any_tag), key_of(any_source, any_tag)}) {
    if (posted_of_kind_[kind_of(key)] == 0) continue;
    request* const one = posted_.oldest(key);
    if (one && (!first || one->order_ < first->order_)) first = one;
  }
  if (first) withdraw(*first);
  return first;
}

void matcher::post(request& r, pattern wanted) noexcept {
  const auto key = key_of(wanted.source, wanted.tag);
  r.order_ = ++posted_so_far_;
  if (const auto kind = kind_of(key); kind != 0) [[unlikely]] {
    ++posted_of_kind_[kind];
    ++wildcards_;
  }
  posted_.push(r, key);
}

void matcher::withdraw(request& r) noexcept {
  if (const auto kind = kind_of(r.key); kind != 0) [[unlikely]] {
    HEADWAY_DEBUG_ASSERT(posted_of_kind_[kind] > 0 && wildcards_ > 0);
    --posted_of_kind_[kind];
    --wildcards_;
  }
  posted_.erase(r);
}

// ---- unexpected messages ------------------------------------------------------------------------

unexpected_message* matcher::search_unexpected(pattern wanted) noexcept {
  unexpected_message* const first = arrivals_.front();
  if (wanted.admits(first->matched_source(), first->tag)) return first;
  const auto key = key_of(wanted.source, wanted.tag);
  if (kind_of(key) == 0) return by_envelope_.oldest(key);
  if (wanted.tag == any_tag) {
    index_by_source();
    return by_source_.oldest(key);
  }
  index_by_tag();
  return by_tag_.oldest(key);
}

void matcher::index_by_source() noexcept {
  if (std::exchange(has_by_source_, true)) return;
  for (auto* m = arrivals_.front(); m; m = arrivals_.after(*m))
    by_source_.push(*m, key_of(m->matched_source(), any_tag));
}

void matcher::index_by_tag() noexcept {
  if (std::exchange(has_by_tag_, true)) return;
  for (auto* m = arrivals_.front(); m; m = arrivals_.after(*m))
    by_tag_.push(*m, key_of(any_source, m->tag));
}

void matcher::add_unexpected(unexpected_message& message) noexcept {
  const int source = message.matched_source();
  by_envelope_.push(message, key_of(source, message.tag));
  arrivals_.push_back(message);
  if (has_by_source_) by_source_.push(message, key_of(source, any_tag));
  if (has_by_tag_) by_tag_.push(message, key_of(any_source, message.tag));
}

void matcher::remove_unexpected(unexpected_message& message) noexcept {
  by_envelope_.erase(message);
  arrivals_.erase(message);
  if (has_by_source_) by_source_.erase(message);
  if (has_by_tag_) by_tag_.erase(message);
  HEADWAY_DEBUG_ASSERT(arrivals_.empty() == (by_envelope_.keys() == 0));
  if (arrivals_.empty()) has_by_source_ = has_by_tag_ = false;
}

}  // namespace headway::messages
