#include "messages/kept_memory.hpp"

#include <cstdlib>
#include <new>
#include <utility>

#include "base/lock_guard.hpp"

namespace headway::messages {

/// The first bytes of memory that is kept.
struct kept_memory::block {
  block* next = nullptr;
};

// The bytes behind the head are rounded up alone: most large messages have a power of two.
void* kept_memory::take(std::size_t bytes) noexcept {
  if (!keeps(bytes)) return std::malloc(head_bytes_ + bytes);
  const auto power = power_of(bytes);
  if (void* const taken = take_kept(power)) return taken;
  return std::malloc(head_bytes_ + (std::size_t{1} << power));
}

void kept_memory::give_back(void* memory, std::size_t bytes) noexcept {
  if (!keeps(bytes) || !keep(*new (memory) block, power_of(bytes))) std::free(memory);
}

void kept_memory::clear() noexcept {
  for (auto power = first_power; power <= last_power; ++power)
    while (block* const taken = take_kept(power)) std::free(taken);
}

kept_memory::block* kept_memory::take_kept(std::size_t power) noexcept {
  const base::lock_guard held(lock_);
  block*& first = blocks_[power - first_power];
  block* const taken = first;
  if (taken == nullptr) return nullptr;
  first = taken->next;
  bytes_ -= std::size_t{1} << power;
  return taken;
}

/// False: enough is kept.
bool kept_memory::keep(block& one, std::size_t power) noexcept {
  const base::lock_guard held(lock_);
  const auto bytes = std::size_t{1} << power;
  if (bytes_ + bytes > bytes_max) return false;
  one.next = std::exchange(blocks_[power - first_power], &one);
  bytes_ += bytes;
  return true;
}

}  // namespace headway::messages
