#include "messages/notice.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "base/log.hpp"

namespace headway::messages {

notice::notice(packets::peer& to, const notice_head& as,
               std::span<const std::byte> content) noexcept {
  std::ranges::copy(content, content_.begin());
  write_head(*this, as);
  payload = std::span(content_).first(content.size());
  with = &to;
  charge = 0;  // it takes no memory at the receiver, and so never waits for credits
  answered = false;
  how = nullptr;
  urgent = false;
  sent = &exchange_parts::payload_sent;
  finish = [](request& self) noexcept {
    delete static_cast<notice*>(&self);
    return false;
  };
}

void notice::post(exchange_parts& parts) noexcept {
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

namespace {

/// Where a notice comes from. The context may be closed meanwhile.
struct sender {
  exchange_parts& parts;
  processes::membership_ref members;
  std::uint16_t id;
  std::uint64_t incarnation;
  int self;

  explicit sender(const context& where) noexcept
      : parts(where.parts),
        members(where.members),
        id(where.id),
        incarnation(where.incarnation),
        self(where.self) {}

  void tell(int rank, wire_kind what, int tag, std::span<const std::byte> content) const noexcept {
    const notice_head head{.match = {.kind = what,
                                     .context = id,
                                     .source = static_cast<std::uint32_t>(self),
                                     .tag = tag},
                           .incarnation = incarnation};
    auto& to = parts.peers.at((*members)[rank]);
    if (auto* const made = new (std::nothrow) notice(to, head, content)) return made->post(parts);
    base::log(base::severity::error,
              "out of memory: rank {} gets no notice that a collective operation fails", rank);
  }
};

/// Making a peer may take long, so that it is not done where a message was received.
struct telling final : progress::ltask {
  telling(const context& where, wire_kind which, int of, std::span<const std::byte> with) noexcept
      : ltask("tell of a failed collective operation", &telling::run,
              progress::ltask_kind::one_shot),
        from(where),
        what(which),
        tag(of),
        bytes(with.size()) {
    std::ranges::copy(with, content.begin());
  }

  static progress::ltask_result run(progress::ltask& task) noexcept {
    const std::unique_ptr<telling> all(static_cast<telling*>(&task));
    for (int rank = 0; rank < all->from.members->size(); ++rank)
      if (rank != all->from.self)
        all->from.tell(rank, all->what, all->tag, std::span(all->content).first(all->bytes));
    return progress::ltask_result::done;
  }

  const sender from;
  const wire_kind what;
  const int tag;
  const std::size_t bytes;
  std::array<std::byte, notice::bytes_max> content;
};

}  // namespace

void notice::tell(context& where, int rank, wire_kind what, int tag,
                  std::span<const std::byte> content) noexcept {
  sender(where).tell(rank, what, tag, content);
}

void notice::tell_all(context& where, wire_kind what, int tag,
                      std::span<const std::byte> content) noexcept {
  if (auto* const task = new (std::nothrow) telling(where, what, tag, content))
    return where.parts.engine.submit(*task);
  base::log(base::severity::error,
            "out of memory: no rank gets a notice that a collective operation fails");
}

}  // namespace headway::messages
