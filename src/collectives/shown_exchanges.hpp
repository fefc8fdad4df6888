#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "collectives/bank_memory.hpp"
#include "collectives/bank_readers.hpp"
#include "collectives/rank_set.hpp"
#include "collectives/used_extent.hpp"

namespace headway::collectives {

/// Which lines and bytes of its bank this rank has given to exchanges that others may still read.
/// Shape:    `shown_max` exchanges, one behind the other in the bank.
/// Threads:  one at a time.
/// Progress: never waits.
class shown_exchanges {
 public:
  shown_exchanges(const bank_memory& memory, bank_readers& readers, bool oversubscribed) noexcept
      : readers_(readers), used_(memory.bank_bytes(), memory.size(), oversubscribed) {}

  /// Whether no rank reads any more what the exchange's line holds.
  [[nodiscard]] bool is_line_free(std::uint64_t exchange) noexcept;
  /// The same for the next bytes of the bank.
  [[nodiscard]] bool has_bytes(std::int64_t bytes) noexcept;
  /// The exchange has its line, and no bytes of the bank.
  void add(std::uint64_t exchange, rank_set readers) noexcept;
  /// The same with the next bytes, which `has_bytes`. Where they begin.
  [[nodiscard]] std::int64_t add(std::uint64_t exchange, rank_set readers,
                                 std::int64_t bytes) noexcept;

 private:
  [[nodiscard]] std::int64_t next_begin(std::int64_t bytes) const noexcept;

  bank_readers& readers_;
  // What others may still read, from `first_` on, `count_` entries.
  static constexpr std::size_t shown_max = 64;
  std::array<shown_exchange, shown_max> shown_ = {};
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  used_extent used_;            // of the bank
  std::int64_t next_byte_ = 0;  // of the bank
};

}  // namespace headway::collectives
