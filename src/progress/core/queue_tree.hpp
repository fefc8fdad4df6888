#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/atomic.hpp"
#include "progress/core/queue.hpp"
#include "progress/waiting/thread_record.hpp"
#include "topology/machine.hpp"

namespace headway::progress {

/// A queue for each place of the machine, and the rounds over them.
/// Threads:  every function any thread; the tree itself never changes.
/// Progress: never waits. Three empty queues cost a few nanoseconds.
/// Source:   pioman15 (mechanism 3).
class queue_tree {
 public:
  struct outcome {
    bool advanced = false;
    bool met_taken_mask = false;  ///< a queue was skipped
    std::uint32_t one_shots = 0;
  };

  /// `excluded_by_others`: see task_queue.
  explicit queue_tree(const topology::machine& machine, bool excluded_by_others = false);

  [[nodiscard]] task_queue& root() noexcept { return nodes_[0].queue; }
  [[nodiscard]] task_queue& leaf() noexcept { return node_at(machine_.here()).queue; }
  [[nodiscard]] task_queue& at(topology::place_id place) noexcept { return node_at(place).queue; }

  /// From the calling thread's leaf to the root. Background rounds climb to a parent with n
  /// children only every n-th time: each queue, also the root, is visited as often as one leaf,
  /// however large the machine. Explicit rounds do so after they met a taken mask; otherwise they
  /// always climb, because there is no contention.
  [[nodiscard]] outcome climb(thread_record& me, round_kind kind) noexcept {
    return climb_from(machine_.here(), me, kind);
  }
  [[nodiscard, gnu::hot]] outcome climb_from(topology::place_id leaf, thread_record& me,
                                             round_kind kind) noexcept;
  /// Over every queue, the root last: so that an ltask does not wait for a thread at its place.
  [[nodiscard]] outcome sweep(thread_record& me, round_kind kind) noexcept;

  [[nodiscard]] bool has_submissions() const noexcept;
  /// Of all queues, see task_queue.
  [[nodiscard]] bool has_taken() const noexcept;
  [[nodiscard]] std::uint32_t taken_count() const noexcept;
  [[nodiscard]] task_queue::counters count() const noexcept;

 private:
  struct node {
    task_queue queue;
    std::uint32_t parent = 0;
    std::uint32_t siblings = 1;  ///< children of the parent, this one included
    /// How many rounds skip the parent; written by every poller here; a lost update is harmless.
    base::atomic<std::uint32_t> skips_left{0};
  };

  [[nodiscard]] node& node_at(topology::place_id place) noexcept {
    return nodes_[static_cast<std::size_t>(place)];
  }
  static task_queue::found add(outcome& sum, const task_queue::outcome& one) noexcept;
  [[nodiscard]] static bool may_climb(node& from, round_kind kind) noexcept;

  const topology::machine& machine_;
  std::size_t count_;
  std::unique_ptr<node[]> nodes_;
};

}  // namespace headway::progress
