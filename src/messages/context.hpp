#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "messages/matching.hpp"
#include "packets/peer.hpp"
#include "processes/membership.hpp"
#include "progress/completion/completion.hpp"

namespace headway::messages {

struct exchange_parts;

/// A matching space: ranks, and what waits there. See exchange.hpp.
class context {
 public:
  context(exchange_parts& of, std::uint16_t number, int own_rank, processes::membership_ref who,
          bool is_collective)
      : parts(of),
        id(number),
        self(own_rank),
        collective(is_collective),
        members(std::move(who)),
        used_(members->size() <= remembered_max ? static_cast<std::size_t>(members->size()) : 0) {}

  exchange_parts& parts;
  const std::uint16_t id;
  const int self;
  const bool collective;
  const processes::membership_ref members;
  /// For peers with several rails; null: as HEADWAY_STRATEGY says. Strategies do not change:
  /// relaxed, it carries nothing.
  std::atomic<const packets::strategy*> how{nullptr};
  /// Its messages may pass those of others: `send_item::urgent`. Relaxed, it carries nothing.
  std::atomic<bool> urgent{false};

  /// A thread that waits for a message that it does not receive yet: a blocking probe.
  struct watch : progress::completion, base::list_hook<> {
    explicit watch(matcher::pattern of) : wanted(of) {}
    const matcher::pattern wanted;
  };

  /// Keeps a message that no receive waits for, and ends the watches for it.
  void keep(unexpected_message& message) noexcept HEADWAY_REQUIRES(lock) {
    waiting.add_unexpected(message);
    if (!watches.empty()) [[unlikely]]
      wake_watches(message.source, message.tag);
  }
  /// More bins for what waits, if there are too few. What took the lock calls it afterwards if it
  /// saw `waiting.bins_wanted()`: nothing is allocated under the lock.
  void widen() noexcept HEADWAY_EXCLUDES(lock);
  /// Ends the watches for such messages; of all, if their sources may be gone.
  void wake_watches(int source, int tag) noexcept HEADWAY_REQUIRES(lock);
  void wake_all_watches() noexcept HEADWAY_REQUIRES(lock);
  /// No such message will come: its sender is lost.
  [[nodiscard]] bool hopeless(int source) const noexcept HEADWAY_REQUIRES(lock);
  /// Nothing comes from this rank any more.
  [[nodiscard]] bool lost(int rank) const noexcept;
  /// The peer that is this rank; made, if it was not used yet.
  [[nodiscard]] packets::peer& peer_of(int rank) noexcept {
    const auto index = static_cast<std::size_t>(rank);
    if (index < used_.size()) [[likely]]
      if (packets::peer* known = used_[index].load(std::memory_order_acquire)) [[likely]]  // (U)
        return *known;
    return look_up(index);
  }

  base::spinlock lock;  // no call out of this module is made under it
  matcher waiting HEADWAY_GUARDED_BY(lock);
  base::intrusive_list<watch> watches HEADWAY_GUARDED_BY(lock);
  bool has_lost HEADWAY_GUARDED_BY(lock) = false;  // a member is lost
  // Of `source_watch`, its ltask's alone: the lower ranks need no watch any more; where it goes on,
  // when any source will do.
  int first_unwatched = 0;
  int next_source = 0;

 private:
  packets::peer& look_up(std::size_t rank) noexcept;

  // Small contexts remember the peers that were used: a message then takes two loads instead of the
  // walk through the membership and the table of all peers.
  static constexpr int remembered_max = 256;
  // (U) release in `look_up`, acquire in `peer_of`: the peer is seen whole.
  std::vector<std::atomic<packets::peer*>> used_;
};

}  // namespace headway::messages
