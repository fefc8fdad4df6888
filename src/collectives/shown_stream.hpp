#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "collectives/exchange_run.hpp"

namespace headway::collectives {

class schedule;

/// The stream of bytes that this rank shows in an exchange, and how far it has shown it.
/// Shape:    it passes through the rank's bank, while the readers follow; or lies in the ring, in
///           an area that two ranks pass to each other, or, if it is small, in the line. Where
///           copying between processes is faster (team::memory.lends), a long stream that lies in
///           one piece stays where it is, and readers copy it out of this process. Its list of
///           parts is in the schedule's scratch memory.
/// Threads:  those of its exchange.
/// Progress: never waits. `advance` copies as many pieces as have room: in a bank those
///           whose place no reader needs any more, elsewhere all of them.
/// Errors:   none of its own. After the operation has failed on this rank, it shows that in place
///           of the stream.
class shown_stream {
 public:
  shown_stream(schedule& s, exchange_run& run) noexcept;

  // Building. What is passed must live until the schedule is complete.
  /// The ranks that read it: before it is shown. Without it, all others.
  void set_readers(rank_set readers) noexcept { readers_ = readers; }
  [[nodiscard]] bool has_readers() const noexcept { return !readers_.empty(); }
  /// The whole stream.
  void show(const void* from, std::int64_t bytes);
  /// A stream of at most so many parts, which `show_part` adds in their order.
  void show_parts(int parts);
  /// `reader`: the one rank that reads it, or `several`.
  void show_part(const void* from, std::int64_t bytes, int reader = bank_memory::several);
  /// Adds bytes that no rank reads: they have their place in the stream, and are not copied.
  void skip_part(const void* from, std::int64_t bytes);
  /// The stream begins with a table of so many parts, each for one rank; `show_to` adds them.
  void show_to_each(int parts);
  void show_to(int entry_number, int reader, const void* from, std::int64_t bytes);
  /// Readers show something in turn once they have it: it wakes them also while they compute.
  void set_urgent() noexcept { urgent_ = true; }
  /// It is not lent.
  void keep_in_bank() noexcept { lendable_ = false; }
  [[nodiscard]] static constexpr bool is_worth_lending(std::int64_t bytes) noexcept {
    constexpr std::int64_t lent_bytes_min = 16 * 1024;
    return bytes >= lent_bytes_min;
  }

  [[nodiscard]] bool exists() const noexcept { return exists_; }
  [[nodiscard]] rank_set readers() const noexcept { return readers_; }
  [[nodiscard]] std::int64_t bytes() const noexcept { return total_; }
  [[nodiscard]] bool is_lent() const noexcept;
  /// Readers copy some of it out of this process, which therefore waits for them.
  [[nodiscard]] bool waits_for_readers() const noexcept {
    return exists_ && !run_.failed_before && (is_lent() || lends_parts_);
  }

  /// Once it has its place: this rank goes on when they have read some of it.
  [[nodiscard]] bool depends_on_readers() const noexcept {
    const bool at_once = is_small() || where_.is_whole() || total_ <= run_.memory.bank_bytes();
    return waits_for_readers() || !at_once;
  }

  // Its place: its line, and bytes of other memory. By shared_banks.
  [[nodiscard]] bool has_place() const noexcept { return at_ != nullptr; }
  void place_in_bank(std::int64_t begin) noexcept {
    at_ = run_.memory.bank(run_.ranks.rank) + begin;
    where_ = {.address = 0, .begin = static_cast<std::uint64_t>(begin)};
  }
  /// Places all of it in an area that two ranks pass to each other. False: this rank owns none now.
  bool take_area() noexcept;
  /// Places all of it in the ring. False: there is no room.
  [[nodiscard]] bool take_of_ring() noexcept;
  /// It is in its line already.
  void take_over_line() noexcept {
    begun_ = true;
    place_in_bank(0);
    shown_ = total_;
  }
  /// In whole cache lines; none of what is not copied there.
  [[nodiscard]] std::int64_t whole_bytes_needed() const noexcept;
  [[nodiscard]] std::int64_t bank_bytes_needed() const noexcept {
    return std::min(whole_bytes_needed(), run_.memory.bank_bytes());
  }

  // Running.
  void begin() noexcept;
  /// Once it has its place. True: all of it was shown.
  [[nodiscard]] bool advance() noexcept;
  [[nodiscard]] bool could_advance() const noexcept {
    return exists_ && !run_.failed_before && !is_lent() && shown_ < total_ && room() > 0;
  }

 private:
  struct piece {
    const std::byte* from;
    std::int64_t bytes;
    bool skipped;
    int reader;
  };
  void add(const piece& p);
  void fill_line() noexcept;
  [[nodiscard]] bool is_in_area() const noexcept {
    return where_.passed() != rails::passed_place::none;
  }
  [[nodiscard]] std::int64_t room() const noexcept;
  void copy(std::int64_t bytes) noexcept;
  [[nodiscard]] bool is_small() const noexcept {
    return total_ <= static_cast<std::int64_t>(sizeof(bank_memory::value::small));
  }
  /// Readers that compute can copy it later, unless this rank waits for them, or they show
  /// something once they have it.
  void wake_readers() noexcept {
    run_.memory.wake_all(readers_, !urgent_ && !depends_on_readers());
  }

  schedule& schedule_;
  exchange_run& run_;

  // Set while building.
  bool exists_ = false;
  rank_set readers_;
  std::int64_t total_ = 0;
  piece* pieces_ = nullptr;
  int pieces_count_ = 0;
  bool adjacent_ = true;  // each piece begins where the one before ends
  bool lendable_ = true;
  bool urgent_ = false;
  stream_entry* table_ = nullptr;
  bool lends_parts_ = false;

  // Set anew by `begin`.
  std::byte* at_ = nullptr;               // the beginning of its place
  bank_memory::value::place where_ = {};  // what the line says of that
  bool begun_ = false;                    // its line has its number
  std::int64_t shown_ = 0;
  int piece_ = 0;  // the one to show next, and how much of it was shown
  std::int64_t piece_shown_ = 0;
};

}  // namespace headway::collectives
