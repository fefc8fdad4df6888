#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/assert.hpp"
#include "collectives/call.hpp"
#include "collectives/settings.hpp"
#include "collectives/shared_memory.hpp"
#include "collectives/transport.hpp"
#include "messages/numbers.hpp"

namespace headway::collectives {

struct tuned_shape;

/// The ranks of a communicator, as its collective operations use them.
/// Threads:  any; calls on one communicator are made in the same order on all its ranks, as the
///           standard requires of the program.
struct team {
  team(transport& over, int my_rank, int ranks, bool more_ranks_than_processors = false,
       const settings& values = {}, const tuned_shape* table = nullptr) noexcept
      : via(over),
        log(over.log()),
        rank(my_rank),
        size(ranks),
        oversubscribed(more_ranks_than_processors),
        chosen_by_user(values),
        measured(table) {
    HEADWAY_ASSERT(0 <= my_rank && my_rank < ranks);
  }
  /// Some ranks of another team, for a part of its operations: `ranks[i]` is rank i of this one.
  /// Operations are bound to the whole team. The array must outlive this object.
  team(const team& whole, std::span<const int> ranks, int my_rank) noexcept
      : team(whole.via, my_rank, static_cast<int>(ranks.size()), whole.oversubscribed,
             whole.chosen_by_user) {
    part_of_ = ranks;
  }

  transport& via;
  messages::operation_log& log;
  const int rank;
  const int size;
  /// More ranks than processors on some node: a waiting rank should be woken once, not often.
  const bool oversubscribed;
  /// Changes only between two operations, on all ranks alike, and so does `measured`.
  settings chosen_by_user;
  /// What `headway tune` has measured for these ranks, the same on all of them; null: nothing.
  const tuned_shape* measured;
  /// Changes only between two operations, on all ranks alike.
  shared_memory memory = {};

  /// The rank in the team to which operations are bound, for which messages are sent.
  [[nodiscard]] int bound_rank(int of) const noexcept {
    return part_of_.empty() || of < 0 ? of : part_of_[static_cast<std::size_t>(of)];
  }

  /// The call in which the ranks agree on something.
  call agrees_in = {};
  /// To be bound for an operation of the library's own.
  [[nodiscard]] call begin_agreement() noexcept {
    log.note_own();
    call own = agrees_in;
    own.agrees = true;
    return own;
  }

  /// Keeps operations under way apart: all ranks draw the same number for the same operation, from
  /// 1 on.
  [[nodiscard]] std::uint64_t next_operation() noexcept {
    // Relaxed: the number is the only thing that is shared.
    return drawn_.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  /// The last number is drawn again by the next operation: the same one, begun in another way.
  void return_operation() noexcept { drawn_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  std::span<const int> part_of_;  ///< empty: this team is no part of another one
  std::atomic<std::uint64_t> drawn_{0};
};

}  // namespace headway::collectives
