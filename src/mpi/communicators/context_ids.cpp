#include "mpi/communicators/context_ids.hpp"

#include <algorithm>
#include <bit>

#include "base/assert.hpp"

namespace headway::mpi {

std::uint32_t context_ids::reserve_lowest(std::size_t first_word) noexcept {
  const base::lock_guard guard(lock_);
  for (std::size_t word = first_word; word < words; ++word) {
    if (free_[word] == 0) continue;
    const auto index = static_cast<std::size_t>(std::countr_zero(free_[word]));
    free_[word] &= free_[word] - 1;
    return static_cast<std::uint32_t>(word * word_bits + index);
  }
  return context_id_none;
}

bool context_ids::reserve(std::uint32_t id) noexcept {
  HEADWAY_ASSERT(id < messages::context_pair::count);
  const base::lock_guard guard(lock_);
  std::uint64_t& word = free_[id / word_bits];
  const bool was_free = (word & bit(id)) != 0;
  word &= ~bit(id);
  return was_free;
}

void context_ids::give_back(std::uint32_t id) noexcept {
  HEADWAY_ASSERT(id < messages::context_pair::count);
  if (id < messages::context_pair::first_free) return;
  const base::lock_guard guard(lock_);
  HEADWAY_ASSERT((free_[id / word_bits] & bit(id)) == 0);
  free_[id / word_bits] |= bit(id);
}

void context_ids::copy_free(std::size_t first_word, std::span<std::uint64_t> out) const noexcept {
  HEADWAY_ASSERT(first_word + out.size() <= words);
  const base::lock_guard guard(lock_);
  std::copy_n(free_.begin() + static_cast<std::ptrdiff_t>(first_word), out.size(), out.begin());
}

}  // namespace headway::mpi
