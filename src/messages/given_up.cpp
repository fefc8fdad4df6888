// A collective operation that cannot succeed ends on all ranks of its communicator. A rank notices
// that by the length of a message, which is always known in advance, or by a message from a rank
// that has none to send in its schedule: the ranks have been called with different counts. Its
// notice reaches every rank, also one that has chosen another algorithm for its own count, and
// waits for messages that no rank sends.
#include <bitset>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "base/lock_guard.hpp"
#include "base/log.hpp"
#include "messages/notice.hpp"
#include "messages/parts.hpp"

namespace headway::messages {

namespace {

/// Of a message that is received for its sender's sake alone.
bool delete_discarding(request& self) noexcept;

}  // namespace

struct discarding_receive final : request {
  explicit discarding_receive(context& where) noexcept {
    aim(where, {}, any_source);
    finish = &delete_discarding;
  }
};

namespace {

bool delete_discarding(request& self) noexcept {
  delete static_cast<discarding_receive*>(&self);
  return false;
}

}  // namespace

void failing_operations::discard(context& where, unexpected_message& message) noexcept {
  if (!message.is_rts) {
    message.from->consumed_late(message.charge);
    return free_unexpected(&message);
  }
  if (auto* const r = new (std::nothrow) discarding_receive(where))
    return parts_.receive_unexpected(*r, message);
  base::log(base::severity::error, "out of memory: rank {} waits for a message of {} bytes",
            message.source, message.bytes);
  free_unexpected(&message);
}

void failing_operations::wrong_length(const request& r, int tag) noexcept {
  context& where = *r.where_;
  if (r.finish != &delete_discarding) give_up(where, tag);
}

void failing_operations::give_up(context& where, int tag) noexcept {
  if (!end_operation(where, where.self, tag)) return;
  notice::tell_all(where, wire_kind::given_up, tag);
}

void failing_operations::look_in(context& where) noexcept {
  look_for_misfit(where);
  inquire(where);
}

/// Ranks that were called with different counts may have chosen different algorithms. Then one
/// waits for a message that no rank sends, while another sends it one that it does not expect.
void failing_operations::look_for_misfit(context& where) noexcept {
  const auto expects = where.expects.load(std::memory_order_relaxed);
  if (!expects) return;
  std::optional<int> misfit;
  // The tags of posted receives, modulo the size: most messages that have come early belong to
  // operations that have not begun here, and need not be compared with every posted receive.
  std::bitset<1024> posted_tags;
  const auto bit_of = [&](int tag) { return static_cast<unsigned>(tag) % posted_tags.size(); };
  {
    const base::lock_guard guard(where.lock);
    matcher* const waiting = &where.waiting;
    static_cast<void>(waiting->any_posted([&](const request& r) {
      posted_tags.set(bit_of(r.tag_));
      return false;
    }));
    static_cast<void>(waiting->any_unexpected([&](const unexpected_message& message) {
      const bool fits_none =
          posted_tags.test(bit_of(message.tag)) && waiting->any_posted([&](const request& r) {
            return r.tag_ == message.tag && operation_tags.has(r.tag_) &&
                   r.history_ == message.history && !expects(r.owner, message.source);
          });
      if (fits_none) misfit = message.tag;
      return fits_none;
    }));
  }
  if (misfit) give_up(where, *misfit);
}

bool failing_operations::end_operation(context& where, int rank, int tag) noexcept {
  if (!where.collective || !operation_tags.has(tag)) return false;
  {
    const base::lock_guard guard(where.lock);
    if (!where.note_given_up(tag)) return false;
  }
  end_receives(where, rank, tag);
  return true;
}

void failing_operations::end_receives(context& where, int rank, std::optional<int> tag) noexcept {
  const auto is_meant = [&](int of) { return tag ? of == *tag : operation_tags.has(of); };
  while (true) {
    request* r = nullptr;
    unexpected_message* message = nullptr;
    {
      const base::lock_guard guard(where.lock);
      r = where.waiting.take_posted_if(
          [&](const request& posted) { return is_meant(posted.tag_); });
      if (r) where.taken(*r);
      if (!r && tag) message = where.waiting.find_unexpected({any_source, *tag});
      if (!r && !tag) message = where.waiting.find_unexpected_if(is_meant);
      if (message) where.waiting.remove_unexpected(*message);
    }
    if (r) {
      r->arrived = {.source = rank, .tag = r->tag_};
      parts_.fail(*r, outcome::failed);
    } else if (message) {
      discard(where, *message);
    } else {
      return;
    }
  }
}

void failing_operations::arrived_given_up(packets::peer& from,
                                          std::span<const std::byte> bytes) noexcept {
  notice_head head;
  if (!read_head(bytes, head)) return;
  if (context* const where = find(from, head)) {
    static_cast<void>(end_operation(*where, rank_in(head.match.source), head.match.tag));
    return;
  }
  unexpected_message* const notice =
      make_unexpected(from, head.match, std::as_bytes(std::span(&head.incarnation, 1)));
  if (!notice) return;
  notice->is_notice = true;
  parts_.keep_early(*notice);
}

void failing_operations::take_early_notice(context& where, unexpected_message& notice) noexcept {
  notice_head about{
      .match = {.context = notice.context, .source = static_cast<std::uint32_t>(notice.source)}};
  std::memcpy(&about.incarnation, notice.data(), sizeof about.incarnation);
  if (find(*notice.from, about) == &where)
    static_cast<void>(end_operation(where, notice.source, notice.tag));
  free_unexpected(&notice);
}

/// A number is free again on all members of its next context, before the first of them opens that:
/// what comes from a context while another one has its number here is late, never early.
context* failing_operations::find(packets::peer& from, const notice_head& about) noexcept {
  context* const where = parts_.find(about.match.context);
  if (!where || where->incarnation != about.incarnation) return nullptr;
  const int rank = rank_in(about.match.source);
  const bool is_member = rank < where->members->size() && (*where->members)[rank] == from.id();
  return is_member ? where : nullptr;
}

}  // namespace headway::messages
