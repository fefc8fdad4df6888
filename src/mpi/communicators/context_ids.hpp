#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/lock_guard.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "messages/numbers.hpp"

namespace headway::mpi {

constexpr std::uint32_t context_id_none = UINT32_MAX;

/// The context ids (messages/numbers.hpp) that are free in this process.
/// Threads:  any.
/// Progress: a spinlock, held for a few words.
class context_ids {
 public:
  static constexpr std::size_t word_bits = 64;
  static constexpr std::size_t words = messages::context_pair::count / word_bits;

  /// All are free except those with a fixed meaning (messages/numbers.hpp).
  constexpr context_ids() noexcept {
    free_.fill(~std::uint64_t{0});
    for (std::uint32_t id = 0; id < messages::context_pair::first_free; ++id) free_[0] &= ~bit(id);
  }

  /// Reserves the lowest free id of words [first_word, words); `context_id_none`: none is free.
  [[nodiscard]] std::uint32_t reserve_lowest(std::size_t first_word = 0) noexcept;
  /// Reserves this id; false: it is not free.
  [[nodiscard]] bool reserve(std::uint32_t id) noexcept;
  /// Frees a reserved id. No effect on ids below `first_free`.
  void give_back(std::uint32_t id) noexcept;
  /// Copies the bits of free ids, from `first_word` on, to all words of `out`.
  void copy_free(std::size_t first_word, std::span<std::uint64_t> out) const noexcept;

 private:
  [[nodiscard]] static constexpr std::uint64_t bit(std::uint32_t id) noexcept {
    return std::uint64_t{1} << (id % word_bits);
  }

  mutable base::spinlock lock_;
  std::array<std::uint64_t, words> free_ HEADWAY_GUARDED_BY(lock_){};
};

}  // namespace headway::mpi
