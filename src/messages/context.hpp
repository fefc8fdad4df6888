#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/assert.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "messages/matching.hpp"
#include "messages/operation_log.hpp"
#include "packets/peer.hpp"
#include "processes/membership.hpp"
#include "progress/completion/completion.hpp"

namespace headway::messages {

struct exchange_parts;

/// A matching space: the ranks of a communicator with the posted receives and unexpected messages
/// of one of its sides. Used through exchange.hpp.
/// Threads:  any, except where a comment names one thread.
class context {
 public:
  context(exchange_parts& of, const context_name& name, int own_rank,
          processes::membership_ref ranks, bool is_collective)
      : parts(of),
        id(static_cast<std::uint16_t>(name.number)),
        incarnation(name.incarnation),
        self(own_rank),
        collective(is_collective),
        members(std::move(ranks)),
        log(is_collective ? std::make_unique<operation_log>(name.incarnation) : nullptr),
        used_(members->size() <= remembered_max ? static_cast<std::size_t>(members->size()) : 0) {}

  exchange_parts& parts;
  const std::uint16_t id;
  const std::uint64_t incarnation;
  const int self;
  const bool collective;
  const processes::membership_ref members;
  /// Of a collective context.
  const std::unique_ptr<operation_log> log;
  /// The strategy for peers with several rails; null: HEADWAY_STRATEGY's. Strategies are immutable:
  /// relaxed.
  std::atomic<const packets::strategy*> how{nullptr};
  /// Of a collective context: see exchange::use_expectation. Set before its first operation, while
  /// the event thread may look at all contexts: relaxed, it carries nothing.
  using expectation = bool (*)(const void* owner, int source) noexcept;
  std::atomic<expectation> expects{nullptr};
  /// Its messages may pass those of others: `send_item::urgent`. Relaxed, it carries nothing.
  std::atomic<bool> passes_others{false};
  void give_priority(packets::send_item& item) const noexcept {
    item.urgent = passes_others.load(std::memory_order_relaxed);
    item.flow = id + 1u;
  }

  /// A thread that waits in a blocking probe for a message with this pattern.
  struct watch : progress::completion, base::list_hook<> {
    explicit watch(matcher::pattern of) : wanted(of) {}
    const matcher::pattern wanted;
  };

  /// Adds an unexpected message, and ends the watches that it matches.
  void keep(unexpected_message& message) noexcept HEADWAY_REQUIRES(lock) {
    waiting.add_unexpected(message);
    if (!watches.empty()) [[unlikely]]
      wake_watches(message.source, message.tag);
  }
  /// Posts a receive. True: the first one here that background threads must progress, and the
  /// caller calls engine.pending_counted. All that are posted here count as one, so that a window
  /// of receives needs two atomic additions, not two for each.
  [[nodiscard]] bool post(request& r, matcher::pattern wanted) noexcept HEADWAY_REQUIRES(lock) {
    HEADWAY_DEBUG_ASSERT(!r.posted_ && r.where_ == this);
    r.posted_ = true;
    r.counted_ = r.background;
    waiting.post(r, wanted);
    return r.counted_ && counted_posted_++ == 0;
  }
  /// A receive was taken out of `waiting`. The last that counts stays counted until it completes.
  void taken(request& r) noexcept HEADWAY_REQUIRES(lock) {
    HEADWAY_DEBUG_ASSERT(r.posted_ && (!r.counted_ || counted_posted_ > 0));
    r.posted_ = false;
    r.counted_ = r.counted_ && --counted_posted_ == 0;
  }
  /// Gives `waiting` more bins if it has too few. A caller that saw `waiting.bins_wanted()` under
  /// the lock calls this after releasing it, because nothing is allocated under the lock.
  void widen() noexcept HEADWAY_EXCLUDES(lock);
  /// Ends the watches that such a message matches.
  void wake_watches(int source, int tag) noexcept HEADWAY_REQUIRES(lock);
  void wake_all_watches() noexcept HEADWAY_REQUIRES(lock);
  /// Whether no message from this source (or `any_source`) will come, because a process is lost.
  [[nodiscard]] bool hopeless(int source) const noexcept HEADWAY_REQUIRES(lock);
  /// Notes that a rank has given up the operation with this tag. False: it was noted before.
  [[nodiscard]] bool note_given_up(int tag) noexcept HEADWAY_REQUIRES(lock);
  /// Whether a rank has given up the operation with this tag: none of its messages is expected any
  /// more. Remembered of the last `given_up_max`.
  [[nodiscard]] bool gave_up(int tag) const noexcept HEADWAY_REQUIRES(lock) {
    return collective && is_given_up(tag);
  }
  /// Whether the receive of this message has ended without it, or will: its sender must not wait.
  [[nodiscard]] bool discards(const unexpected_message& message) const noexcept
      HEADWAY_REQUIRES(lock);
  /// Whether this rank's process is lost.
  [[nodiscard]] bool lost(int rank) const noexcept;
  /// This rank's peer, which is made on first use.
  [[nodiscard]] packets::peer& peer_of(int rank) noexcept {
    HEADWAY_DEBUG_ASSERT(0 <= rank && rank < members->size());
    const auto index = static_cast<std::size_t>(rank);
    if (index < used_.size()) [[likely]]
      if (packets::peer* known = used_[index].load(std::memory_order_acquire)) [[likely]]  // (U)
        return *known;
    return look_up(index);
  }

  base::spinlock lock;  // no function of another module is called under it
  matcher waiting HEADWAY_GUARDED_BY(lock);
  base::intrusive_list<watch> watches HEADWAY_GUARDED_BY(lock);
  bool has_lost HEADWAY_GUARDED_BY(lock) = false;  // a member is lost
  /// So many operations were given up.
  std::uint32_t given_up_count HEADWAY_GUARDED_BY(lock) = 0;
  // Used by the ltask of `source_watch` alone: all lower ranks are peers already, and the rank at
  // which the next look for `any_source` begins.
  int first_unwatched = 0;
  int next_source = 0;
  // Used by the same ltask: see `failing_operations::inquire`.
  std::uint64_t last_seen = 0;  // the last operation at the last look
  int looks_in_vain = 0;        // while it was that, and something waited
  int next_asked = 0;           // rank

 private:
  packets::peer& look_up(std::size_t rank) noexcept;
  [[nodiscard]] bool is_given_up(int tag) const noexcept HEADWAY_REQUIRES(lock);

  std::uint32_t counted_posted_ HEADWAY_GUARDED_BY(lock) = 0;  // posted receives that are counted
  // A rank that is so many failed operations behind the others may miss the oldest of them.
  static constexpr std::uint32_t given_up_max = 64;
  std::array<int, given_up_max> given_up_ HEADWAY_GUARDED_BY(lock){};

  // Small contexts remember the peers that were used: a message then takes two loads instead of a
  // look-up in the membership and in the table of all peers.
  static constexpr int remembered_max = 256;
  // (U) release in `look_up`, acquire in `peer_of`: the peer's members are visible.
  std::vector<std::atomic<packets::peer*>> used_;
};

}  // namespace headway::messages
