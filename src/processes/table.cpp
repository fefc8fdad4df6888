#include "processes/table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"

namespace headway::processes {

namespace {

/// Mixes all bits, so that the ranks of a job, which follow each other, are spread.
std::size_t hash_of(process_id process) noexcept {
  std::uint64_t x = process.job ^ process.rank * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  return static_cast<std::size_t>(x ^ x >> 32);
}

}  // namespace

table::~table() {
  for (process_id* chunk : chunks_) delete[] chunk;
}

std::size_t table::chunk_of(std::uint32_t index) noexcept {
  return static_cast<std::size_t>(std::bit_width(index / first_chunk));
}

std::uint32_t table::chunk_begin(std::size_t chunk) noexcept {
  return chunk == 0 ? 0 : first_chunk << (chunk - 1);
}

process_id& table::entry(std::uint32_t index) const noexcept {
  const std::size_t chunk = chunk_of(index);
  HEADWAY_DEBUG_ASSERT(chunk < chunks_.size() && chunks_[chunk] != nullptr);
  return chunks_[chunk][index - chunk_begin(chunk)];
}

std::size_t table::slot_of(process_id process) const noexcept {
  HEADWAY_DEBUG_ASSERT(std::has_single_bit(slots_.size()));
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_of(process) & mask;
  while (slots_[slot] != unused && entry(slots_[slot]) != process) slot = (slot + 1) & mask;
  return slot;
}

void table::enlarge_slots() {
  const std::vector<std::uint32_t> before = std::exchange(
      slots_, std::vector<std::uint32_t>(std::max<std::size_t>(32, 2 * slots_.size()), unused));
  for (const std::uint32_t index : before)
    if (index != unused) slots_[slot_of(entry(index))] = index;
}

peer_id table::add(process_id process) {
  const base::lock_guard guard(lock_);
  const std::uint32_t index = size_.load(std::memory_order_relaxed);  // written under the lock
  if (slots_.size() < 2 * (std::size_t{index} + 1)) enlarge_slots();
  std::uint32_t& slot = slots_[slot_of(process)];
  if (slot != unused) return peer_id{slot};
  HEADWAY_ASSERT(index < size_max);
  const std::size_t chunk = chunk_of(index);
  if (!chunks_[chunk]) chunks_[chunk] = new process_id[chunk_begin(chunk + 1) - chunk_begin(chunk)];
  entry(index) = process;
  slot = index;
  size_.store(index + 1, std::memory_order_release);  // (A)
  return peer_id{index};
}

std::optional<peer_id> table::find(process_id process) const {
  const base::lock_guard guard(lock_);
  if (slots_.empty()) return std::nullopt;
  const std::uint32_t index = slots_[slot_of(process)];
  return index == unused ? std::nullopt : std::optional(peer_id{index});
}

process_id table::at(peer_id peer) const noexcept {
  const auto index = static_cast<std::uint32_t>(peer);
  HEADWAY_ASSERT(index < size());
  return entry(index);
}

}  // namespace headway::processes
