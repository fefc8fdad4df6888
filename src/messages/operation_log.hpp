#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/assert.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"

namespace headway::messages {

/// The collective operations that this rank has begun on a communicator, in the order of its calls.
/// All ranks should have begun the same ones. A number of each rank's history goes with everything
/// that it gives to others, so that nothing is taken for what it is not; and the logs say which
/// rank has made another call, when a rank has waited in vain.
///
/// Shape:    the words of the last `kept` operations; their meaning is the caller's.
/// Threads:  `note` and `take_back` one thread at a time; the rest any.
/// Progress: nothing waits.
class operation_log {
 public:
  /// What is called, with its root. 0: nothing is known of it.
  using word = std::uint32_t;
  /// The bits that are the same on all ranks. The rest describes the call.
  static constexpr word compared = 0x3fffffff;
  static constexpr std::size_t kept = 64;

  /// `incarnation`: of the communicator's context (numbers.hpp).
  explicit operation_log(std::uint64_t incarnation = 0) noexcept
      : history_(incarnation * multiplier) {}

  /// An operation has begun.
  void note(word call) noexcept {
    const auto position = last_.load(std::memory_order_relaxed) + 1;
    const auto before = history_.load(std::memory_order_relaxed);
    entry_at(position).store(position << 32 | call, std::memory_order_relaxed);  // see below
    history_.store((before + (call & compared)) * multiplier, std::memory_order_relaxed);
    last_.store(position, std::memory_order_relaxed);
  }
  /// The last operation is going to be noted again. `history_before` is what `history` was before.
  void take_back(std::uint64_t history_before) noexcept {
    HEADWAY_ASSERT(last() > 0);
    history_.store(history_before, std::memory_order_relaxed);
    last_.store(last() - 1, std::memory_order_relaxed);
  }
  /// Of all operations so far: equal on ranks of one communicator that have begun the same ones,
  /// else probably not, so that nothing of a communicator is taken for that of a later one, which
  /// has its number, either. The highest bits are the best.
  [[nodiscard]] std::uint64_t history() const noexcept {
    return history_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t last() const noexcept {
    return last_.load(std::memory_order_relaxed);
  }
  /// Nothing: it is not kept.
  [[nodiscard]] std::optional<word> at(std::uint64_t position) const noexcept;

  /// One more operation is the library's own, which the program does not count.
  void note_own() noexcept { own_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t own() const noexcept { return own_.load(std::memory_order_relaxed); }

  /// The words of the last operations in a message.
  struct copy {
    std::uint64_t last;
    std::array<word, kept> words;  ///< of the last `kept` positions, 0 where there is none
  };
  [[nodiscard]] copy make_copy() const noexcept;

  /// Two ranks call different operations as the same one.
  struct misfit {
    struct side {
      std::int32_t rank;
      word call;
    };
    std::uint64_t position;
    std::array<side, 2> sides;
  };
  /// The first one that both logs still have; `own_rank` is this log's.
  [[nodiscard]] std::optional<misfit> compare(const copy& other, int rank,
                                              int own_rank) const noexcept;

  /// From now on no operation of the communicator is waited for. False: it was broken before.
  bool break_with(const misfit& why) noexcept;
  [[nodiscard]] bool is_broken() const noexcept {
    return broken_.load(std::memory_order_acquire);  // (K)
  }
  /// Once it is broken.
  [[nodiscard]] const misfit& why_broken() const noexcept HEADWAY_NO_THREAD_SAFETY_ANALYSIS {
    HEADWAY_DEBUG_ASSERT(is_broken());
    return why_;  // it is written no more
  }

  /// Something waits for other ranks in shared memory, of which `messages` does not know.
  void waiting_begins() noexcept { waiting_.fetch_add(1, std::memory_order_relaxed); }
  void waiting_ends() noexcept {
    HEADWAY_DEBUG_ASSERT(is_waiting());
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_waiting() const noexcept {
    return waiting_.load(std::memory_order_relaxed) > 0;
  }

 private:
  static constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15;
  static constexpr std::uint64_t position_mask = 0xffffffff;

  [[nodiscard]] std::atomic<std::uint64_t>& entry_at(std::uint64_t position) noexcept {
    return entries_[position % kept];
  }

  // Relaxed throughout: an entry is one word that says of which position it is, and carries nothing
  // else. A thread that reads while an operation begins sees it or does not.
  std::atomic<std::uint64_t> last_{0};
  std::atomic<std::uint64_t> history_;
  std::array<std::atomic<std::uint64_t>, kept> entries_{};
  std::atomic<std::uint64_t> own_{0};
  std::atomic<int> waiting_{0};
  base::spinlock lock_;                     // of `break_with`
  misfit why_ HEADWAY_GUARDED_BY(lock_){};  // written once, before `broken_`
  // (K) release behind `why_` -> acquire before it is read.
  std::atomic<bool> broken_{false};
};

}  // namespace headway::messages
