// A collective operation that cannot succeed ends on all ranks of its communicator. A rank notices
// that by the length of a message, which is always known in advance, or by a message from a rank
// that has none to send in its schedule: the ranks have been called with different counts. Its
// notice reaches every rank, also one that has chosen another algorithm for its own count, and
// waits for messages that no rank sends.
#include <memory>
#include <new>
#include <optional>

#include "base/lock_guard.hpp"
#include "base/log.hpp"
#include "messages/parts.hpp"

namespace headway::messages {

/// The message that says so to one rank. Deletes itself.
struct given_up_notice final : request {
  given_up_notice(packets::peer& to, const envelope& as) noexcept {
    write_head(*this, as);
    with = &to;
    charge = 0;  // it takes no memory at the receiver, and so never waits for credits
    answered = false;
    how = nullptr;
    urgent = false;
    sent = &exchange_parts::payload_sent;
    finish = [](request& self) noexcept {
      delete static_cast<given_up_notice*>(&self);
      return false;
    };
  }

  void post(exchange_parts& parts) noexcept {
    switch (with->post(*this)) {
      case packets::posted::done:
        parts.complete_at_once(*this);
        break;
      case packets::posted::pending:
        break;
      case packets::posted::down:
        parts.fail(*this, outcome::peer_lost);
        break;
    }
  }
};

namespace {

/// Sends the notice to all other ranks. Making a peer may take long, so that it is not done where
/// the message was received.
struct telling final : progress::ltask {
  telling(const context& where, int which) noexcept
      : ltask("give up a collective operation", &telling::run, progress::ltask_kind::one_shot),
        parts(where.parts),
        members(where.members),
        id(where.id),
        self(where.self),
        tag(which) {}

  static progress::ltask_result run(progress::ltask& task) noexcept {
    const std::unique_ptr<telling> all(static_cast<telling*>(&task));
    for (int rank = 0; rank < all->members->size(); ++rank)
      if (rank != all->self) all->tell(rank);
    return progress::ltask_result::done;
  }

  void tell(int rank) noexcept {
    auto& to = parts.peers.at((*members)[rank]);
    const envelope head{.kind = wire_kind::given_up,
                        .context = id,
                        .source = static_cast<std::uint32_t>(self),
                        .tag = tag};
    if (auto* const notice = new (std::nothrow) given_up_notice(to, head))
      return notice->post(parts);
    base::log(base::severity::error,
              "out of memory: rank {} gets no notice that a collective operation has failed", rank);
  }

  exchange_parts& parts;
  const processes::membership_ref members;
  const std::uint16_t id;
  const int self;
  const int tag;
};

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

void exchange_parts::discard(context& where, unexpected_message& message) noexcept {
  if (!message.is_rts) {
    message.from->consumed_late(message.charge);
    return free_unexpected(&message);
  }
  if (auto* const r = new (std::nothrow) discarding_receive(where))
    return receive_unexpected(*r, message);
  base::log(base::severity::error, "out of memory: rank {} waits for a message of {} bytes",
            message.source, message.bytes);
  free_unexpected(&message);
}

void exchange_parts::wrong_length(const request& r, int tag) noexcept {
  context& where = *r.where_;
  if (r.finish != &delete_discarding) give_up(where, tag);
}

void exchange_parts::give_up(context& where, int tag) noexcept {
  if (!end_operation(where, where.self, tag)) return;
  if (auto* const task = new (std::nothrow) telling(where, tag)) return engine.submit(*task);
  base::log(base::severity::error,
            "out of memory: no rank gets a notice that a collective operation has failed");
}

/// Ranks that were called with different counts may have chosen different algorithms. Then one
/// waits for a message that no rank sends, while another sends it one that it does not expect.
void exchange_parts::look_for_misfit(context& where) noexcept {
  const auto expects = where.expects.load(std::memory_order_relaxed);
  if (!expects) return;
  std::optional<int> misfit;
  {
    const base::lock_guard guard(where.lock);
    matcher* const waiting = &where.waiting;
    static_cast<void>(waiting->any_unexpected([&](const unexpected_message& message) {
      const bool fits_none = waiting->any_posted([&](const request& r) {
        return r.tag_ == message.tag && operation_tags.has(r.tag_) &&
               !expects(r.owner, message.source);
      });
      if (fits_none) misfit = message.tag;
      return fits_none;
    }));
  }
  if (misfit) give_up(where, *misfit);
}

bool exchange_parts::end_operation(context& where, int rank, int tag) noexcept {
  if (!where.collective || !operation_tags.has(tag)) return false;
  {
    const base::lock_guard guard(where.lock);
    if (!where.note_given_up(tag)) return false;
  }
  while (true) {
    request* r = nullptr;
    unexpected_message* message = nullptr;
    {
      const base::lock_guard guard(where.lock);
      r = where.waiting.take_posted_if([&](const request& posted) { return posted.tag_ == tag; });
      if (r) r->posted_ = false;
      if (!r) message = where.waiting.find_unexpected({any_source, tag});
      if (message) where.waiting.remove_unexpected(*message);
    }
    if (r) {
      r->arrived = {.source = rank, .tag = tag};
      fail(*r, outcome::failed);
    } else if (message) {
      discard(where, *message);
    } else {
      return true;
    }
  }
}

void exchange_parts::arrived_given_up(packets::peer& from,
                                      std::span<const std::byte> bytes) noexcept {
  envelope head;
  if (!read_head(bytes, head)) return;
  if (context* const where = find(head.context)) {
    static_cast<void>(end_operation(*where, static_cast<int>(head.source), head.tag));
    return;
  }
  unexpected_message* const notice = make_unexpected(from, head, {});
  if (!notice) return;
  notice->is_notice = true;
  keep_early(*notice);
}

}  // namespace headway::messages
