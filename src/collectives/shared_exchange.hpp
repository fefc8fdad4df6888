#pragma once

#include <algorithm>
#include <cstdint>

#include "base/intrusive_list.hpp"
#include "collectives/reducer.hpp"
#include "collectives/shared_banks.hpp"
#include "collectives/team.hpp"
#include "messages/request.hpp"
#include "progress/completion/completion.hpp"

namespace headway::collectives {

class schedule;

/// A step of a schedule: this rank shows a stream of bytes, and copies or combines parts of the
/// streams of others, through the banks of its team. The other ranks' schedules have the same step
/// with their streams and parts; streams have the sizes that the readers expect.
///
/// Shape:    in its schedule's scratch memory. A stream passes through the rank's bank, while the
///           readers follow. Where copying between processes is faster (team::memory.lends), a long
///           stream that lies in one piece stays where it is: readers copy it out of this process,
///           and the step ends when they have.
/// Threads:  built and bound by one thread, then advanced by one at a time.
/// Progress: `advance` does what is possible. After `end_later`, or in `wait`, every polling point
///           of the process goes on with it.
/// Errors:   a stream of another size than expected ends it with `truncated` or `failed`, on the
///           ranks that expect it. See also shared_banks.
class shared_exchange final : public base::list_hook<open_tag>,
                              public base::list_hook<pending_tag> {
 public:
  /// `phase`: 0, or 1 for the second exchange of an operation.
  shared_exchange(schedule& s, const team& t, int phase);

  // Building. What is passed must live until the schedule is complete.
  using rank_set = shared_banks::rank_set;
  /// The ranks that read this rank's stream: before it is shown. Without it, all others.
  void set_readers(rank_set readers) noexcept { readers_ = readers; }
  [[nodiscard]] bool has_readers() const noexcept { return readers_ != 0; }
  /// Of this rank's stream, as far as it is not lent.
  [[nodiscard]] std::int64_t stream_bytes() const noexcept { return lends() ? 0 : total_; }
  /// The whole stream.
  void show(const void* from, std::int64_t bytes);
  /// A stream of at most so many parts, which `show_part` adds in their order.
  void show_parts(int parts);
  /// `reader`: the one rank that reads it, or `several`.
  void show_part(const void* from, std::int64_t bytes, int reader = shared_banks::several);
  /// Adds bytes that no rank reads: they have their place in the stream, and are not copied.
  void skip_part(const void* from, std::int64_t bytes);
  /// Each reader takes so few bytes at a time that lending the stream does not pay.
  void keep_in_bank() noexcept { lendable_ = false; }
  [[nodiscard]] static constexpr bool is_worth_lending(std::int64_t bytes) noexcept {
    return bytes >= lent_bytes_min;
  }
  /// The stream begins with a table of so many parts, each for one rank; `show_to` adds them.
  void show_to_each(int parts);
  void show_to(int entry_number, int reader, const void* from, std::int64_t bytes);

  /// What is read of another rank's stream, which has `total` bytes.
  struct part {
    int rank;
    std::int64_t total, offset, bytes;
  };
  /// At most so many calls of `copy`, `copy_own` and `apply` follow.
  void reads(int count);
  void copy(const part& what, void* to);
  /// Copies that part of the rank's stream, where it begins with a table of parts.
  void copy_own(int rank, int entry_number, std::int64_t bytes, void* to);
  /// Combines elements with those in `to`, in the order of these calls.
  void apply(const part& what, void* to, std::int64_t element_bytes, const reducer& op);
  /// Combines the same part of the streams of ranks `first`, `first` + 1 … `last`, in this order.
  struct operands {
    int first, last;
    std::int64_t bytes;  ///< of each stream
    const void* own;     ///< this rank's, if it is among them
    void* to;            ///< may be `own`, of at most a bank's bytes
    std::int64_t element_bytes;
    reducer op;
  };
  void combine(const operands& what);

  // Running.
  /// To be called for an operation's exchanges in order, and for operations in order. `history`: of
  /// the team's operations, up to this one; 0: these banks are not for the team's operations.
  void bind(std::uint64_t operation, std::uint64_t history) noexcept;
  /// Goes on as far as possible, for some time. True: it has ended. `failed`: the operation has
  /// failed on this rank before; the others then find that in place of its stream.
  [[nodiscard]] bool advance(bool failed) noexcept;
  /// The same where the others are probably about to begin too: a few looks cost no more than
  /// `end_later` and a polling round.
  [[nodiscard]] bool advance_at_start(bool failed) noexcept;
  /// The same for a thread that can wait: looks for a while before it gives up.
  [[nodiscard]] bool advance_spinning(bool failed) noexcept;
  /// Waits for its end, after `advance` was false.
  void wait() noexcept;
  /// After `advance` was false: its end continues the schedule (`exchange_ended`). From then on
  /// another thread may own the schedule.
  void end_later() noexcept;
  /// Once it has ended.
  [[nodiscard]] messages::outcome how() const noexcept { return how_; }
  /// The rank whose stream failed first, or -1.
  [[nodiscard]] int failed_rank() const noexcept { return failed_rank_; }

 private:
  friend class shared_banks;

  /// A part of this rank's stream.
  struct piece {
    const std::byte* from;
    std::int64_t bytes;
    bool skipped;
    int reader;
  };
  /// A part of another rank's stream, and what is done with it.
  struct wanted : part {
    std::byte* to;
    std::int64_t element_bytes = 0;  ///< 0: it is copied
    int entry = no_entry;  ///< of the table, which has the rest of `part`; `no_entry`: no table
    std::uint64_t address = 0;  ///< where it is in the rank's memory; 0: in the stream
    std::int64_t done = 0;      ///< `over`: nothing more is to be done
  };
  static constexpr int no_entry = -1;
  static constexpr std::int64_t over = -1;
  static constexpr std::int64_t of_own_stream = -1;  ///< in place of `total`
  /// An entry of the table at the beginning of a stream with a part for each reader. Its size
  /// divides a bank's, so that no entry lies on both sides of a bank's end.
  struct entry {
    std::uint64_t
        place;  ///< the offset in the stream; of a lent part, which is not in it, the address
    std::uint64_t bytes : 63;
    std::uint64_t is_lent : 1;
  };
  static constexpr std::int64_t entry_bytes = 16;
  static_assert(sizeof(entry) == entry_bytes);
  /// Bytes of a stream that can be read now.
  struct found {
    const std::byte* here = nullptr;  ///< null: in the rank's memory
    std::uint64_t there = 0;
    std::int64_t bytes = 0;
  };
  static constexpr std::int64_t lent_bytes_min = 16 * 1024;
  static constexpr std::int64_t advanced_at_once = 1024 * 1024;

  enum class stage : std::uint8_t { working, waiting_for_readers, ended };

  [[nodiscard]] bool go_on() noexcept;
  [[nodiscard]] bool could_go_on() const noexcept;
  [[nodiscard]] bool show_more() noexcept;
  void add_piece(const piece& p);
  void want(const wanted& w);
  void begin_stream() noexcept;
  [[nodiscard]] bool has_place() const noexcept { return begin_ != no_place; }
  [[nodiscard]] bool waits_for_place() const noexcept {
    return at_ == stage::working && shows_ && !has_place();
  }
  [[nodiscard]] bool is_small() const noexcept {
    return total_ <= static_cast<std::int64_t>(sizeof(shared_banks::value::small));
  }
  /// In whole cache lines; none of what is not copied there.
  [[nodiscard]] std::int64_t whole_bytes_needed() const noexcept;
  [[nodiscard]] std::int64_t bank_bytes_needed() const noexcept {
    return std::min(whole_bytes_needed(), banks_.bank_bytes());
  }
  [[nodiscard]] std::int64_t room() const noexcept;
  void copy_piece(std::int64_t bytes) noexcept;
  [[nodiscard]] bool lends() const noexcept;
  [[nodiscard]] bool waits_for_readers() const noexcept {
    return shows_ && !failed_before_ && (lends() || lends_parts_);
  }
  [[nodiscard]] bool is_there(int rank) const noexcept;
  /// The rank's stream, which is there, lies in the ring.
  [[nodiscard]] bool is_in_ring(int rank) const noexcept;
  [[nodiscard]] bool is_due(int rank, std::int64_t bytes) const noexcept;
  [[nodiscard]] bool size_fits(int rank, std::int64_t due) noexcept;
  [[nodiscard]] found find(int rank, std::int64_t offset, std::int64_t bytes) const noexcept;
  [[nodiscard]] found find(const wanted& w) const noexcept;
  [[nodiscard]] found find_entry(const wanted& w) const noexcept;
  [[nodiscard]] bool could_take(const wanted& w) const noexcept;
  [[nodiscard]] bool take(wanted& w) noexcept;
  [[nodiscard]] bool find_own_part(wanted& w) noexcept;
  /// Of the stream of `rank` only what is behind so many bytes is still needed.
  [[nodiscard]] std::int64_t taken_of(int rank) const noexcept;
  [[nodiscard]] bool read(int rank, const found& f, std::byte* to, std::int64_t bytes) noexcept;
  [[nodiscard]] bool take_bytes(wanted& w) noexcept;
  [[nodiscard]] std::int64_t combinable() const noexcept;
  [[nodiscard]] bool combines_unequal() const noexcept;
  [[nodiscard]] bool take_combined() noexcept;
  void combine_chunk(std::int64_t bytes) noexcept;
  /// It has taken more than it has published.
  [[nodiscard]] bool has_to_publish() const noexcept;
  void publish_taken() noexcept;
  void fail(messages::outcome how, int rank) noexcept;
  void give_up(messages::outcome why, int rank) noexcept;
  void wake_readers() noexcept;
  void wake_writers() noexcept;
  void ended() noexcept;

  schedule& schedule_;
  const team& team_;
  shared_banks& banks_;
  const int phase_;

  // Set while building.
  bool shows_ = false;
  rank_set readers_;
  std::int64_t total_ = 0;
  piece* pieces_ = nullptr;
  int pieces_count_ = 0;
  bool adjacent_ = true;  // each piece begins where the one before ends
  bool lendable_ = true;  // the stream
  entry* table_ = nullptr;
  bool lends_parts_ = false;
  wanted* wanted_ = nullptr;
  int wanted_count_ = 0;
  rank_set sources_ = 0;  // whose streams it reads
  bool combines_ = false;
  operands combined_ = {};
  reducer op_ = {};
  std::int64_t* published_ = nullptr;  // of each rank's stream: bytes published as taken
  std::byte* sum_ = nullptr;           // a chunk, if the result is due in the place of the input
  std::byte* arriving_ = nullptr;      // a chunk

  // Set anew by `bind`.
  std::uint64_t number_ = 0;   // as it is in a line
  std::uint64_t counted_ = 0;  // as the ranks count exchanges
  stage at_ = stage::working;
  bool failed_before_ = false;
  static constexpr std::int64_t no_place = -1;
  std::int64_t begin_ = no_place;  // its place in the bank or the ring; it has its line with that
  bool in_ring_ = false;
  bool begun_ = false;  // its line has its number
  std::int64_t shown_ = 0;
  int piece_ = 0;  // the one to show next, and how much of it was shown
  std::int64_t piece_shown_ = 0;
  std::int64_t combined_bytes_ = 0;
  bool long_streams_ = false;     // some are longer than a bank
  bool publishes_taken_ = false;  // it has begun to
  std::int64_t budget_ = 0;
  bool moved_ = false;  // in the present `go_on`
  messages::outcome how_ = messages::outcome::ok;
  int failed_rank_ = -1;
  bool notifies_ = false;  // the schedule, else a thread waits
  progress::completion ended_;
};

}  // namespace headway::collectives
