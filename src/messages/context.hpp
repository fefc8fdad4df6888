#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/spinlock.hpp"
#include "messages/matching.hpp"
#include "packets/peer.hpp"
#include "progress/completion.hpp"

namespace headway::messages {

/// A matching space: ranks, and what waits there. See exchange.hpp.
struct exchange_parts;

class context {
 public:
  context(exchange_parts& of, std::uint16_t number, int own_rank,
          std::vector<packets::peer*> members, bool is_collective)
      : parts(of),
        id(number),
        self(own_rank),
        collective(is_collective),
        ranks(std::move(members)) {}

  exchange_parts& parts;
  const std::uint16_t id;
  const int self;
  const bool collective;
  const std::vector<packets::peer*> ranks;
  /// For peers with several rails; null: as HEADWAY_STRATEGY says. Strategies do not change:
  /// relaxed, it carries nothing.
  std::atomic<const packets::strategy*> how{nullptr};

  /// A thread that waits for a message that it does not receive yet: a blocking probe.
  struct watch : progress::completion, base::list_hook<> {
    explicit watch(matcher::pattern of) : wanted(of) {}
    const matcher::pattern wanted;
  };

  /// Keeps a message that no receive waits for, and wakes who watches for it. Under the lock.
  void keep(parked& message) noexcept {
    waiting.add_parked(message);
    if (!watches.empty()) [[unlikely]]
      wake_watches(message.source, message.tag);
  }
  /// Ends the watches for such messages; of all, if their sources may be gone. Under the lock.
  void wake_watches(int source, int tag) noexcept;
  void wake_all_watches() noexcept;
  /// No such message will come: its sender is lost. Under the lock.
  [[nodiscard]] bool hopeless(int source) const noexcept {
    return lost_ranks > 0 &&
           (collective || source == any_source || ranks[static_cast<std::size_t>(source)]->lost());
  }

  base::spinlock lock;  // guards the rest: no call out of this room is made under it
  matcher waiting;
  base::intrusive_list<watch> watches;
  int lost_ranks = 0;
};

}  // namespace headway::messages
