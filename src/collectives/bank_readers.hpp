#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "collectives/bank_memory.hpp"
#include "collectives/rank_set.hpp"

namespace headway::collectives {

/// What this rank shows in an exchange, and which ranks read it.
struct shown_exchange {
  std::uint64_t exchange = 0;
  rank_set readers = {};
  std::int64_t begin = 0, end = 0;  ///< in the bank
};

/// How far the other ranks have come with reading what this one shows.
/// Shape:    a word for each rank.
/// Threads:  any.
/// Progress: never waits; looks into a rank's page where more than what is known already matters.
class bank_readers {
 public:
  explicit bank_readers(const bank_memory& memory)
      : memory_(memory),
        finished_(std::make_unique<std::atomic<std::uint64_t>[]>(
            static_cast<std::size_t>(memory.size()))) {}

  /// No rank reads it any more.
  [[nodiscard]] bool is_read(const shown_exchange& what) noexcept;
  /// The same, as far as this rank knows already.
  [[nodiscard]] bool is_known_as_read(const shown_exchange& what) const noexcept;
  /// How much of it its readers do not need any more.
  [[nodiscard]] std::int64_t taken(const shown_exchange& what) noexcept;
  /// The rank has said that it has finished this exchange and those before.
  void note_finished(int rank, std::uint64_t exchange) noexcept {
    finished_[static_cast<std::size_t>(rank)].store(exchange, std::memory_order_release);
  }

 private:
  [[nodiscard]] bool has_finished(int rank, std::uint64_t exchange) noexcept;

  const bank_memory& memory_;
  // What each rank has finished, as far as it was read. Release and acquire: a thread may write a
  // bank again because another one has read that its readers have finished.
  std::unique_ptr<std::atomic<std::uint64_t>[]> finished_;
};

}  // namespace headway::collectives
