#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/intrusive_list.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "collectives/bank_memory.hpp"
#include "collectives/bank_readers.hpp"
#include "collectives/rank_set.hpp"
#include "collectives/shown_exchanges.hpp"
#include "collectives/team.hpp"
#include "progress/core/ltask.hpp"
#include "rails/shm_slots.hpp"

namespace headway::collectives {

class shared_exchange;
struct open_tag;     // of the exchanges that are not finished
struct pending_tag;  // of those that wait for others

/// The exchanges of a team's ranks on one node, which need no messages: each rank shows bytes in
/// its own banks, or says where they are in its memory, and others read them.
///
/// Parts:    `bank_memory` is where the bytes are, `shown_exchanges` what this rank has shown
///           there, `bank_readers` how far the others have read it.
/// Shape:    an operation of the team has the numbers 2 n and 2 n + 1 for its exchanges, n as all
///           ranks count operations; neighbours use different lines.
/// Threads:  any; exchanges are bound in the order of the team's operations (`bind`).
/// Progress: nothing here waits. Exchanges that wait for others are driven by `poll`, at every
///           polling point of the process; a sleeping thread is woken for them.
/// Errors:   after a rank is lost, every exchange that still waits ends with `peer_lost`; after the
///           team's log is broken, with `failed`.
class shared_banks final : private rails::shm_slots::watcher {
 public:
  static constexpr int ranks_max = rank_set::ranks_max;

  shared_banks(team& ranks, rails::shm_slots& slots, std::span<const rails::peer_id> processes,
               const bank_memory::location& where);
  ~shared_banks();
  shared_banks(const shared_banks&) = delete;
  shared_banks& operator=(const shared_banks&) = delete;

  [[nodiscard]] bank_memory& memory() noexcept { return memory_; }
  [[nodiscard]] bank_readers& readers() noexcept { return readers_; }
  [[nodiscard]] progress::ltask& task() noexcept { return task_; }
  /// Advances what waits. `done`: nothing waits any more. By the ltask only.
  [[nodiscard]] progress::ltask_result poll() noexcept;

  // An operation of one exchange whose streams lie in their lines needs no schedule as long as no
  // rank is late: each shows its stream, looks at those of others, and has finished. Where that
  // does not come to an end, a `shared_exchange` of the same number takes it over.
  static constexpr std::int64_t line_bytes_max = sizeof(bank_memory::value::small);
  /// False, and nothing is shown: an earlier exchange is not finished here, or the line is still
  /// read.
  [[nodiscard]] bool try_show_in_line(const exchange_numbers& operation,
                                      std::span<const std::byte> stream, rank_set readers) noexcept;
  /// What the rank shows in its line; null: nothing yet, or a stream of another length.
  [[nodiscard]] const std::byte* find_in_line(int rank, const exchange_numbers& operation,
                                              std::int64_t bytes) noexcept;
  /// This rank has read the streams of all its sources.
  void finish_in_line(const exchange_numbers& operation, rank_set sources) noexcept;

  /// In the order of exchanges. Gives it its place if that is possible at once.
  void bind(shared_exchange& x) noexcept;
  /// Gives the exchange its place, which is its line and the bytes that it needs, in the order of
  /// exchanges, when no rank reads any more what they hold. False: not yet.
  [[nodiscard]] bool try_place(shared_exchange& x) noexcept;
  /// `x` reads nothing any more, and has shown what it shows.
  void finish(shared_exchange& x) noexcept;
  /// The last exchange of this rank before which, and with which, all are finished.
  [[nodiscard]] std::uint64_t finished() const noexcept { return own_finished_.known(); }
  /// No earlier exchange with the same line is unfinished: only then may it publish how
  /// much it has taken, because there is one place for that.
  [[nodiscard]] bool is_oldest_of_line(std::uint64_t exchange) noexcept;
  /// Advances `x` at polling points, and calls its `tell_end` at the end.
  void pend(shared_exchange& x) noexcept;

 private:
  struct poll_task : progress::ltask {
    explicit poll_task(shared_banks& of) noexcept;
    shared_banks& owner;
  };

  void place_if_possible(shared_exchange& x) noexcept HEADWAY_REQUIRES(lock_);
  /// It may, also if there is no room for all of it in one piece.
  [[nodiscard]] bool may_place(const shared_exchange& x) noexcept HEADWAY_REQUIRES(lock_);
  [[nodiscard]] bool has_line(const shared_exchange& x) noexcept HEADWAY_REQUIRES(lock_);
  /// This rank has finished all exchanges up to this one.
  void tell_finished(std::uint64_t exchange) noexcept;
  [[nodiscard]] bool is_oldest(std::uint64_t exchange) noexcept HEADWAY_REQUIRES(lock_);
  /// The rank that is lost, or -1.
  [[nodiscard]] int lost_rank() const noexcept;

  [[nodiscard]] bool ready() const noexcept override;
  [[nodiscard]] bool any_could_go_on() noexcept;

  team& team_;
  bank_memory memory_;
  bank_readers readers_{memory_};
  basic_finished<std::atomic<std::uint64_t>> own_finished_{0};
  poll_task task_;

  base::spinlock lock_;
  base::intrusive_list<shared_exchange, open_tag> open_ HEADWAY_GUARDED_BY(lock_);
  base::intrusive_list<shared_exchange, pending_tag> pending_ HEADWAY_GUARDED_BY(lock_);
  shown_exchanges shown_ HEADWAY_GUARDED_BY(lock_){memory_, readers_, team_.oversubscribed};
  std::uint64_t last_bound_ HEADWAY_GUARDED_BY(lock_) = 0;
  std::uint64_t last_in_line_ HEADWAY_GUARDED_BY(lock_) = 0;  // by `try_show_in_line`
  bool polled_ HEADWAY_GUARDED_BY(lock_) = false;             // the ltask is submitted
};

}  // namespace headway::collectives
