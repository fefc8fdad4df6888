#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "base/copy_for_reader.hpp"
#include "base/intrusive_list.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "collectives/bank.hpp"
#include "collectives/byte_ring.hpp"
#include "collectives/call.hpp"
#include "collectives/team.hpp"
#include "progress/core/ltask.hpp"
#include "rails/shm_slots.hpp"

namespace headway::collectives {

class shared_exchange;
struct open_tag;     // of the exchanges that are not finished
struct pending_tag;  // of those that wait for others

/// The memory by which the ranks of a team on one node exchange data without messages: each rank
/// shows bytes in its own banks, or says where they are in its memory, and others read them.
///
/// Shape:    a bank and two lines a rank. An operation of the team has the numbers 2 n and 2 n + 1
///           for its exchanges, n as all ranks count operations; neighbours use different lines.
/// Threads:  any; exchanges are bound in the order of the team's operations (`bind`).
/// Progress: nothing here waits. Exchanges that wait for others are driven by `poll`, at every
///           polling point of the process; a sleeping thread is woken for them.
/// Errors:   after a rank is lost, every exchange that still waits ends with `peer_lost`; after the
///           team's log is broken, with `failed`.
class shared_banks final : private rails::shm_slots::watcher {
 public:
  static constexpr int ranks_max = 64;
  using rank_set = std::uint64_t;  ///< a bit for each rank
  [[nodiscard]] static constexpr rank_set only(int rank) noexcept { return rank_set{1} << rank; }
  /// The ranks `first` … `last`.
  [[nodiscard]] static constexpr rank_set from_to(int first, int last) noexcept {
    HEADWAY_DEBUG_ASSERT(0 <= first && first <= last && last < ranks_max);
    return (~rank_set{0} >> (ranks_max - 1 - last)) & (~rank_set{0} << first);
  }
  /// Whether it holds for every rank of the set; asks no further when it does not.
  template <class Holds>
  [[nodiscard]] static bool all_of(rank_set ranks, Holds&& holds) {
    for (; ranks != 0; ranks &= ranks - 1)
      if (!holds(std::countr_zero(ranks))) return false;
    return true;
  }
  static constexpr int several = -1;  ///< in place of the one rank that reads something
  static constexpr std::uint64_t no_stream = ~std::uint64_t{0};
  static constexpr std::size_t page_bytes = 2048;
  static constexpr std::int64_t piece_bytes_max = 8 * 1024;

  struct value {
    struct place {
      std::uint64_t address;  ///< where it is in its rank's memory; 0: in the bank
      std::uint64_t begin;    ///< in the bank; with `in_ring`, in the ring
      static constexpr std::uint64_t in_ring = std::uint64_t{1} << 63;
    };
    std::uint64_t total;     ///< bytes of the stream; `no_stream`: its rank has failed
    std::uint64_t finished;  ///< by its rank, when it was published
    union {
      place longer;
      alignas(16) std::byte small[32];  ///< a stream that is not longer
    };
  };
  using line = basic_bank_line<std::atomic<std::uint64_t>, value>;

  /// An exchange, as its rank counts them and as it says in its line.
  struct numbers {
    numbers(std::uint64_t operation, std::uint64_t history, int phase = 0) noexcept
        : counted(2 * operation + static_cast<std::uint64_t>(phase)),
          in_line(with_history(counted, history)) {
      HEADWAY_DEBUG_ASSERT(history == 0 || counted >> counted_bits == 0);
    }
    std::uint64_t counted, in_line;
  };

  /// Where each rank has its page and its bank: in the memory of a slot on which all ranks have
  /// agreed, and which they have reserved.
  struct location {
    std::uint32_t slot;
    std::int64_t bytes = rails::shm_slots::bank_bytes;  ///< of the bank, a power of two
    std::size_t page_at = 0;
    std::size_t bank_at = rails::shm_slots::bank_page_bytes;
    byte_ring* ring = nullptr;  ///< for streams that fit into it, as long as there is room
  };
  shared_banks(team& ranks, rails::shm_slots& memory, std::span<const rails::peer_id> processes,
               const location& where);
  ~shared_banks();
  /// Before the first exchange is bound: another page and bank in the memory of the same slot.
  void move_to(std::size_t page_at, std::size_t bank_at) noexcept;
  shared_banks(const shared_banks&) = delete;
  shared_banks& operator=(const shared_banks&) = delete;

  [[nodiscard]] std::int64_t bank_bytes() const noexcept { return bank_bytes_; }
  /// Bytes that are shown or combined between two notifications of other ranks.
  [[nodiscard]] std::int64_t piece_bytes() const noexcept { return piece_bytes_; }
  /// At most so much is read at a time.
  [[nodiscard]] std::int64_t chunk_bytes() const noexcept {
    return ring_ ? piece_bytes_max : piece_bytes_;
  }
  using reading = basic_reading<std::atomic<std::uint64_t>, ranks_max>;
  /// What the owner of a page says in it.
  [[nodiscard]] static reading* reading_in(std::byte* page_begin) noexcept {
    return &reinterpret_cast<page*>(page_begin)->read;
  }
  /// How this rank copies into its bank what that rank reads, or several do.
  [[nodiscard]] base::copy_for_reader& copy_for(int reader) noexcept {
    return copies_[static_cast<std::size_t>(reader - several)];
  }
  [[nodiscard]] progress::ltask& task() noexcept { return task_; }
  /// Advances what waits. `done`: nothing waits any more. By the ltask only.
  [[nodiscard]] progress::ltask_result poll() noexcept;

  // An operation of one exchange whose streams lie in their lines needs no schedule as long as no
  // rank is late: each shows its stream, looks at those of others, and has finished. Where that
  // does not come to an end, a `shared_exchange` of the same number takes it over.
  static constexpr std::int64_t line_bytes_max = sizeof(value::small);
  /// False, and nothing is shown: an earlier exchange is not finished here, or the line is still
  /// read.
  [[nodiscard]] bool try_show_in_line(const numbers& operation, std::span<const std::byte> stream,
                                      rank_set readers) noexcept;
  /// What the rank shows in its line; null: nothing yet, or a stream of another length.
  [[nodiscard]] const std::byte* find_in_line(int rank, const numbers& operation,
                                              std::int64_t bytes) noexcept;
  /// This rank has read the streams of all its sources.
  void finish_in_line(const numbers& operation, rank_set sources) noexcept;

  // For the parts of an exchange.
  /// All ranks of the team but this one.
  [[nodiscard]] rank_set others() const noexcept {
    return (~rank_set{0} >> (ranks_max - team_.size)) & ~only(team_.rank);
  }
  [[nodiscard]] static std::size_t line_number(std::uint64_t exchange) noexcept {
    return (exchange / 2 + exchange) % bank_lines;
  }
  /// What a rank says of an exchange, by its number in the line.
  [[nodiscard]] line& line_of(int rank, std::uint64_t exchange) const noexcept {
    return page_of(rank).lines[line_number(exchange)];
  }
  [[nodiscard]] std::byte* bank(int rank) const noexcept {
    return areas_[static_cast<std::size_t>(rank)] + bank_at_;
  }
  [[nodiscard]] std::byte* ring(int rank) const noexcept {
    return areas_[static_cast<std::size_t>(rank)] + ring_->where().at;
  }
  /// Where this rank says how far it has read.
  [[nodiscard]] reading& own_reading() const noexcept { return page_of(team_.rank).read; }
  /// What this rank shows in an exchange, and which ranks read it.
  struct shown {
    std::uint64_t exchange = 0;
    rank_set readers = 0;
    std::int64_t begin = 0, end = 0;  ///< in the bank
  };
  /// No rank reads it any more.
  [[nodiscard]] bool is_read(const shown& earlier) noexcept;
  /// How much of what this rank shows in the exchange its readers do not need any more.
  [[nodiscard]] std::int64_t taken(const shown& what) noexcept;
  void note_finished(int rank, std::uint64_t exchange) noexcept {
    finished_[static_cast<std::size_t>(rank)].store(exchange, std::memory_order_release);
  }
  void wake(int rank) noexcept { memory_.wake(processes_[static_cast<std::size_t>(rank)]); }
  void wake_all(rank_set ranks) noexcept {
    each_of(ranks, [this](int rank) { wake(rank); });
  }
  /// In the order of exchanges. Gives it its place if that is possible at once.
  void bind(shared_exchange& x) noexcept;
  /// Gives the exchange its place, which is its line and the bytes that it needs, in the order of
  /// exchanges, when no rank reads any more what they hold. False: not yet.
  [[nodiscard]] bool try_place(shared_exchange& x) noexcept;
  /// `x` reads nothing any more, and has shown what it shows.
  void finish(shared_exchange& x) noexcept;
  /// The last exchange of this rank before which, and with which, all are finished.
  [[nodiscard]] std::uint64_t finished() const noexcept {
    return own_finished_.load(std::memory_order_relaxed);  // written by this process alone
  }
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
  /// What a rank's page holds.
  struct page {
    alignas(64) line lines[bank_lines];
    alignas(64) reading read;
  };
  static_assert(sizeof(line) == 64 && sizeof(page) <= page_bytes &&
                page_bytes <= rails::shm_slots::bank_page_bytes);

  template <class Act>
  static void each_of(rank_set ranks, Act&& act) {
    for (; ranks != 0; ranks &= ranks - 1) act(std::countr_zero(ranks));
  }
  [[nodiscard]] page& page_of(int rank) const noexcept {
    return *reinterpret_cast<page*>(areas_[static_cast<std::size_t>(rank)] + page_at_);
  }
  /// `is_read`, as far as this rank knows already.
  [[nodiscard]] bool is_known_as_read(const shown& earlier) const noexcept;
  [[nodiscard]] bool has_finished(int rank, std::uint64_t exchange) noexcept;
  void place_if_possible(shared_exchange& x) noexcept HEADWAY_REQUIRES(lock_);
  /// It may, also if there is no room in the ring.
  [[nodiscard]] bool may_place(const shared_exchange& x) noexcept HEADWAY_REQUIRES(lock_);
  [[nodiscard]] bool has_line(const shared_exchange& x) noexcept HEADWAY_REQUIRES(lock_);
  /// Whether no rank reads any more what the exchange's line holds, and its next bytes of the bank.
  [[nodiscard]] bool is_line_free(std::uint64_t exchange) noexcept HEADWAY_REQUIRES(lock_);
  [[nodiscard]] bool has_bytes(std::int64_t bytes) noexcept HEADWAY_REQUIRES(lock_);
  void note_shown(const shown& what) noexcept HEADWAY_REQUIRES(lock_);
  [[nodiscard]] std::int64_t used_by(std::int64_t bytes) const noexcept HEADWAY_REQUIRES(lock_);
  [[nodiscard]] std::int64_t next_begin(std::int64_t bytes) const noexcept HEADWAY_REQUIRES(lock_);
  void gone_round() noexcept HEADWAY_REQUIRES(lock_);
  /// This rank has finished all exchanges up to this one.
  void tell_finished(std::uint64_t exchange) noexcept;
  [[nodiscard]] bool is_oldest(std::uint64_t exchange) noexcept HEADWAY_REQUIRES(lock_);
  /// The rank that is lost, or -1.
  [[nodiscard]] int lost_rank() const noexcept;

  [[nodiscard]] bool ready() const noexcept override;
  [[nodiscard]] bool any_could_go_on() noexcept;

  team& team_;
  rails::shm_slots& memory_;
  const std::vector<rails::peer_id> processes_;
  std::size_t page_at_;  // these two change only in `move_to`
  std::size_t bank_at_;
  byte_ring* const ring_;
  const std::int64_t bank_bytes_;
  const std::int64_t piece_bytes_;
  std::vector<std::byte*> areas_;  // of each rank
  // What each rank has finished, as far as it was read. Release and acquire: a thread may write a
  // bank again because another one has read that its readers have finished.
  std::unique_ptr<std::atomic<std::uint64_t>[]> finished_;
  std::atomic<std::uint64_t> own_finished_{0};
  // By reader, `several` first: some may run on this core, others on one that is far.
  std::unique_ptr<base::copy_for_reader[]> copies_;
  poll_task task_;

  base::spinlock lock_;
  base::intrusive_list<shared_exchange, open_tag> open_ HEADWAY_GUARDED_BY(lock_);
  base::intrusive_list<shared_exchange, pending_tag> pending_ HEADWAY_GUARDED_BY(lock_);
  // What others may still read, from `first_shown_` on, `shown_count_` entries.
  static constexpr std::size_t shown_max = 64;
  std::array<shown, shown_max> shown_ HEADWAY_GUARDED_BY(lock_) = {};
  std::size_t first_shown_ HEADWAY_GUARDED_BY(lock_) = 0;
  std::size_t shown_count_ HEADWAY_GUARDED_BY(lock_) = 0;
  std::int64_t next_byte_ HEADWAY_GUARDED_BY(lock_) = 0;           // of the bank
  std::int64_t used_bytes_ HEADWAY_GUARDED_BY(lock_) = 64 * 1024;  // its first bytes: see `used_by`
  int rounds_ HEADWAY_GUARDED_BY(lock_) = 0;                       // of streams in them
  std::uint64_t last_bound_ HEADWAY_GUARDED_BY(lock_) = 0;
  std::uint64_t last_in_line_ HEADWAY_GUARDED_BY(lock_) = 0;  // by `try_show_in_line`
  bool polled_ HEADWAY_GUARDED_BY(lock_) = false;             // the ltask is submitted
};

}  // namespace headway::collectives
