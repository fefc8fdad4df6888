#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "base/copy_for_reader.hpp"
#include "collectives/bank.hpp"
#include "collectives/byte_ring.hpp"
#include "collectives/call.hpp"
#include "collectives/passed_areas.hpp"
#include "collectives/rank_set.hpp"
#include "rails/shm_slots.hpp"

namespace headway::collectives {

/// An exchange, as its rank counts them and as it says in its line.
struct exchange_numbers {
  exchange_numbers(std::uint64_t operation, std::uint64_t history, int phase = 0) noexcept
      : counted(2 * operation + static_cast<std::uint64_t>(phase)),
        in_line(with_history(counted, history)) {
    HEADWAY_DEBUG_ASSERT(history == 0 || counted >> counted_bits == 0);
  }
  std::uint64_t counted, in_line;
};

/// Where the ranks of a team on one node show each other bytes: of each rank a page with its lines,
/// a bank, and possibly a ring.
///
/// Shape:    a bank and two lines a rank.
/// Threads:  any. What the lines say, and which thread may write what: bank.hpp.
/// Progress: never waits; `wake` enters the kernel where the rank sleeps.
class bank_memory {
 public:
  static constexpr int several = -1;  ///< in place of the one rank that reads something
  static constexpr std::uint64_t no_stream = ~std::uint64_t{0};
  static constexpr std::size_t page_bytes = 2048;
  static constexpr std::int64_t piece_bytes_max = 8 * 1024;

  /// What a line says of a stream.
  struct value {
    struct place {
      std::uint64_t address;  ///< where it is in its rank's memory; 0: in the bank
      std::uint64_t begin;    ///< in the bank; with `in_ring`, in the ring; or `in_passed`
      static constexpr std::uint64_t in_ring = std::uint64_t{1} << 63;
      /// At the beginning of an area that two ranks pass to each other.
      [[nodiscard]] static constexpr std::uint64_t in_passed(rails::passed_place which) noexcept {
        return static_cast<std::uint64_t>(which) << passed_shift;
      }
      /// In the ring or in such an area.
      [[nodiscard]] bool is_whole() const noexcept { return begin >> passed_shift != 0; }
      [[nodiscard]] rails::passed_place passed() const noexcept {
        return static_cast<rails::passed_place>(begin >> passed_shift & 3);
      }

     private:
      static constexpr unsigned passed_shift = 61;
    };
    std::uint64_t total;     ///< bytes of the stream; `no_stream`: its rank has failed
    std::uint64_t finished;  ///< by its rank, when it was published
    union {
      place longer;
      alignas(16) std::byte small[96];  ///< a stream that is not longer
    };
  };
  using line = basic_bank_line<std::atomic<std::uint64_t>, value>;
  using reading = basic_reading<std::atomic<std::uint64_t>, rank_set::ranks_max>;

  /// Where each rank has its page and its bank: in the memory of a slot on which all ranks have
  /// agreed, and which they have reserved.
  struct location {
    std::uint32_t slot;
    std::int64_t bytes = rails::shm_slots::bank_bytes;  ///< of the bank, a power of two
    std::size_t page_at = 0;
    std::size_t bank_at = rails::shm_slots::bank_page_bytes;
    byte_ring* ring = nullptr;       ///< for streams that fit into it, as long as there is room
    passed_areas* passed = nullptr;  ///< of two ranks, for streams that fit into one
  };
  bank_memory(int own_rank, rails::shm_slots& slots, std::span<const rails::peer_id> processes,
              const location& where);
  bank_memory(const bank_memory&) = delete;
  bank_memory& operator=(const bank_memory&) = delete;
  /// Before the first exchange is bound: another page and bank in the memory of the same slot.
  void move_to(std::size_t page_at, std::size_t bank_at) noexcept;

  [[nodiscard]] int own_rank() const noexcept { return own_rank_; }
  [[nodiscard]] int size() const noexcept { return static_cast<int>(processes_.size()); }
  /// All ranks but this one.
  [[nodiscard]] rank_set others() const noexcept {
    return rank_set::from_to(0, size() - 1).without(rank_set::only(own_rank_));
  }

  [[nodiscard]] std::int64_t bank_bytes() const noexcept { return bank_bytes_; }
  /// Bytes that are shown or combined between two notifications of other ranks.
  [[nodiscard]] std::int64_t piece_bytes() const noexcept { return piece_bytes_; }
  /// At most so much is read at a time.
  [[nodiscard]] std::int64_t chunk_bytes() const noexcept {
    return ring_ ? piece_bytes_max : piece_bytes_;
  }

  [[nodiscard]] static std::size_t line_number(std::uint64_t exchange) noexcept {
    return (exchange / 2 + exchange) % bank_lines;
  }
  /// What a rank says of an exchange, by its number in the line.
  [[nodiscard]] line& line_of(int rank, std::uint64_t exchange) const noexcept {
    return page_of(rank).lines[line_number(exchange)];
  }
  /// This rank's line of the next operation.
  [[nodiscard]] line& line_behind(std::uint64_t exchange) const noexcept {
    return line_of(own_rank_, (exchange / 2 + 1) * 2);
  }
  /// Where a rank says how far it has read.
  [[nodiscard]] reading& reading_of(int rank) const noexcept { return page_of(rank).read; }
  /// The same in a page.
  [[nodiscard]] static reading* reading_in(std::byte* page_begin) noexcept {
    return &reinterpret_cast<page*>(page_begin)->read;
  }
  [[nodiscard]] std::byte* bank(int rank) const noexcept {
    return areas_[static_cast<std::size_t>(rank)] + bank_at_;
  }
  [[nodiscard]] std::byte* ring(int rank) const noexcept {
    return areas_[static_cast<std::size_t>(rank)] + ring_->where().at;
  }
  /// Null: the ranks pass no areas to each other.
  [[nodiscard]] passed_areas* passed() const noexcept { return passed_; }
  /// Takes bytes of this rank's ring for a stream; nothing: there is no ring, or no room in it.
  [[nodiscard]] std::optional<std::int64_t> take_of_ring(std::uint64_t exchange, rank_set readers,
                                                         std::int64_t bytes) noexcept {
    if (!ring_ || bytes == 0) return std::nullopt;
    return ring_->take({page_at_, exchange, readers}, bytes);
  }
  /// How this rank copies into its bank what that rank reads, or several do.
  [[nodiscard]] base::copy_for_reader& copy_for(int reader) noexcept {
    return copies_[static_cast<std::size_t>(reader - several)];
  }

  /// After a store that these ranks must see. `can_wait`: see rails::shm_slots::wake.
  void wake_all(rank_set ranks, bool can_wait) noexcept {
    ranks.each([this, can_wait](int rank) {
      slots_.wake(processes_[static_cast<std::size_t>(rank)], can_wait);
    });
  }
  [[nodiscard]] rails::shm_slots& slots() noexcept { return slots_; }

 private:
  /// What a rank's page holds.
  struct page {
    alignas(rails::shm_slots::line_bytes) line lines[bank_lines];
    alignas(64) reading read;
  };
  static_assert(sizeof(line) == rails::shm_slots::line_bytes && sizeof(page) <= page_bytes &&
                page_bytes <= rails::shm_slots::bank_page_bytes);

  [[nodiscard]] page& page_of(int rank) const noexcept {
    return *reinterpret_cast<page*>(areas_[static_cast<std::size_t>(rank)] + page_at_);
  }

  const int own_rank_;
  rails::shm_slots& slots_;
  const std::vector<rails::peer_id> processes_;
  std::size_t page_at_ = 0;  // these two are set in `move_to`
  std::size_t bank_at_ = 0;
  byte_ring* const ring_;
  passed_areas* const passed_;
  const std::int64_t bank_bytes_;
  const std::int64_t piece_bytes_;
  std::vector<std::byte*> areas_;  // of each rank
  // By reader, `several` first: some may run on this core, others on one that is far.
  std::unique_ptr<base::copy_for_reader[]> copies_;
};

}  // namespace headway::collectives
