// Ranks that call different collective operations as the same one of their communicator, or one
// with different roots. What they give each other never meets (operation_log::history), so that a
// rank waits. A rank that has waited for a while sends its log to the others. One whose own log
// differs tells all, and nothing waits for an operation of that communicator any more.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bytes_of.hpp"
#include "base/lock_guard.hpp"
#include "messages/notice.hpp"
#include "messages/parts.hpp"

namespace headway::messages {
namespace {

/// So many ranks are asked at a look, if there are more in turns.
constexpr int asked_max = 32;
/// After that, looks at which none is asked: first none, then twice as many, up to this.
constexpr int looks_without_max = 16;

using base::bytes_of;

template <class Content>
bool read_notice(std::span<const std::byte> bytes, notice_head& head, Content& content) noexcept {
  if (!read_head(bytes, head) || bytes.size() != sizeof head + sizeof content) return false;
  std::memcpy(&content, bytes.data() + sizeof head, sizeof content);
  return true;
}

/// Then operations end for that, on each rank at another place, and the logs tell nothing.
bool has_lost(context& where) noexcept {
  const base::lock_guard guard(where.lock);
  return where.has_lost;
}

}  // namespace

/// Receives of operations that wait, or messages that no receive waits for: one that its sender has
/// announced may be all that this one waits for.
bool failing_operations::has_messages(context& where) noexcept {
  const base::lock_guard guard(where.lock);
  return where.waiting.any_posted([](const request& r) { return operation_tags.has(r.tag_); }) ||
         where.waiting.any_unexpected(
             [](const unexpected_message& message) { return operation_tags.has(message.tag); });
}

/// Only those are asked that are peers already. A rank for whose message this one waits soon is one
/// (source_watch).
void failing_operations::inquire(context& where) noexcept {
  operation_log* const log = where.log.get();
  if (!log || log->is_broken()) return;
  const bool waits = log->is_waiting() || has_messages(where);
  if (!waits || std::exchange(where.last_seen, log->last()) != log->last()) {
    where.looks_in_vain = where.next_asked = 0;
    return;
  }
  if (where.next_asked == 0) {
    const auto looks = static_cast<unsigned>(++where.looks_in_vain);
    if (looks > looks_without_max ? looks % looks_without_max != 0 : !std::has_single_bit(looks))
      return;
  }
  const auto words = log->make_copy();
  int asked = 0;
  for (; where.next_asked < where.members->size() && asked < asked_max; ++where.next_asked) {
    const int rank = where.next_asked;
    if (rank == where.self || !parts_.peers.find((*where.members)[rank])) continue;
    notice::tell(where, rank, wire_kind::inquiry, 0, bytes_of(words));
    ++asked;
  }
  if (where.next_asked == where.members->size()) where.next_asked = 0;
}

void failing_operations::arrived_inquiry(packets::peer& from,
                                         std::span<const std::byte> bytes) noexcept {
  notice_head head;
  operation_log::copy other;
  if (!read_notice(bytes, head, other)) return;
  context* const where = find(from, head);
  if (!where || !where->log || has_lost(*where)) return;
  const operation_log& log = *where->log;
  const int rank = rank_in(head.match.source);
  if (log.is_broken()) {
    notice::tell(*where, rank, wire_kind::misfit, 0, bytes_of(log.why_broken()));
  } else if (const auto found = log.compare(other, rank, where->self)) {
    break_operations(*where, *found);
    notice::tell_all(*where, wire_kind::misfit, 0, bytes_of(*found));
  }
}

void failing_operations::arrived_misfit(packets::peer& from,
                                        std::span<const std::byte> bytes) noexcept {
  notice_head head;
  operation_log::misfit why;
  if (!read_notice(bytes, head, why)) return;
  context* const where = find(from, head);
  if (where && where->log) break_operations(*where, why);
}

/// Receives that are posted later end at once: context::gave_up.
void failing_operations::break_operations(context& where,
                                          const operation_log::misfit& why) noexcept {
  if (where.log->break_with(why)) end_receives(where, where.self, {});
}

}  // namespace headway::messages
